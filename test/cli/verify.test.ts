import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/database/open.js';
import { runCommand } from '../support/command.js';
import { type DemoMirror, startDemoMirror } from '../support/demo-mirror.js';

let demo: DemoMirror;
/** A copy of both databases that nothing writes to. */
let whole: string;

beforeAll(async () => {
  demo = await startDemoMirror();
  whole = mkdtempSync(join(tmpdir(), 'carbon-mirror-whole-'));
  for (const name of ['mirror', 'inbox']) {
    const db = openDatabase(join(demo.folder, `${name}.db`), { busyTimeoutMs: 5000 });
    db.prepare('VACUUM INTO ?').run(join(whole, `${name}.db`));
    db.close();
  }
});

afterAll(async () => {
  await demo.stop();
  rmSync(whole, { recursive: true });
});

async function run(...argv: string[]) {
  return await runCommand(['verify', ...argv], { env: demo.env });
}

function change(sql: string): void {
  const db = openDatabase(join(demo.folder, 'mirror.db'), { busyTimeoutMs: 5000 });
  db.exec(sql);
  db.close();
}

async function faults(...argv: string[]): Promise<{ check: string; where: string; fault: string }[]> {
  const { exitCode, stdout } = await run(...argv, '--json');
  const { faults: found } = JSON.parse(stdout);
  expect(exitCode).toBe(found.length === 0 ? 0 : 3);
  return found;
}

test('a mirror that is whole passes, against the registry too', async () => {
  const { exitCode, stdout, stderr } = await run();
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' });
  expect(stderr).toContain('145 certificates');
  const compared = await run('--against-registry');
  expect(compared).toMatchObject({ exitCode: 0 });
  expect(compared.stderr).toContain('rows are as at the registry');
});

test('a row that was changed, added or removed by hand is found against the registry, exit 3', async () => {
  change(`
    CREATE TABLE aside AS SELECT * FROM retirements;
    UPDATE retirements SET document = replace(document, '"id"', '"ID"') WHERE id = (SELECT min(id) FROM retirements);
    DELETE FROM retirements WHERE id = (SELECT max(id) FROM retirements);
    UPDATE warehouse_credits SET credit_id = 'exPost-0-0x0' WHERE version = (SELECT min(version) FROM warehouse_credits)`);
  const found = await faults('--against-registry');
  expect(found.map(({ fault }) => fault)).toEqual(
    expect.arrayContaining(['changed', 'not in the mirror', 'not at the registry']),
  );
  expect((await run('--against-registry')).stdout).toContain('exPost-0-0x0');
});

test('counters and versions that contradict the rows are found', async () => {
  const found = await faults();
  expect(found.map(({ check }) => check)).toContain('the counter of retirements fits its rows');
  change(`INSERT INTO addresses_past
    SELECT version + 1000000, organization_id, id, address, name, is_default, valid_from, '2000-01-01T00:00:00.000Z',
      sync_run_id, sync_run_id, document FROM addresses LIMIT 1`);
  expect((await faults()).map(({ check }) => check)).toContain(
    'each version of addresses ends after it began',
  );
});

test.each([
  [
    'no two versions of addresses are true at once',
    `INSERT INTO addresses_past
    SELECT version + 2000000, organization_id, id, address, name, is_default, '2000-01-01T00:00:00.000Z',
      '2999-01-01T00:00:00.000Z', sync_run_id, sync_run_id, document FROM addresses LIMIT 1`,
  ],
  [
    'each version of members has a number of its own, within the counter',
    'UPDATE version_counter SET last = 1',
  ],
  [
    'the sums of retirements by beneficiary fit their rows',
    "UPDATE retirement_sums SET micro = micro + 1 WHERE kind = 'beneficiary'",
  ],
  ['the sums of retirements by month fit their rows', "DELETE FROM retirement_sums WHERE kind = 'month'"],
  ['the counters of certificates fit their rows', 'DELETE FROM certificate_sums'],
  [
    'a certificate belongs to a retirement that is there',
    "UPDATE certificates SET retirement_id = 'nobody' WHERE version = (SELECT min(version) FROM certificates)",
  ],
  [
    'a retirement up to the mark has its certificate entered',
    'DELETE FROM certificates WHERE version = (SELECT min(version) FROM certificates)',
  ],
  ['a remembered page holds whole version numbers', "UPDATE read_pages SET versions = x'00'"],
  ['no claim that the mirror has seen is above the counter of the inbox', 'UPDATE fences SET claim = 1e9'],
  ['a signed text is what its digest says', "UPDATE inbox.signed_texts SET signed_data = signed_data || 'A'"],
])('%s, or it is told', async (law, breakage) => {
  const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-broken-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(whole, folder, { recursive: true });
  const laws = async () => {
    const { stdout } = await runCommand(['verify', '--json'], { env: { DATA_DIR: folder } });
    const { faults: found }: { faults: { check: string }[] } = JSON.parse(stdout);
    return found.map(({ check }) => check).filter(check => check !== 'certificates');
  };
  expect(await laws()).toEqual([]);
  const db = openDatabase(join(folder, 'mirror.db'), { busyTimeoutMs: 0 });
  db.prepare('ATTACH ? AS inbox').run(join(folder, 'inbox.db'));
  db.exec(breakage);
  db.close();
  expect(await laws()).toContain(law);
});

test('a certificate that was changed or removed is found by its hash', async () => {
  const [one, two] = demo.query("SELECT file FROM certificates WHERE state = 'stored' ORDER BY file LIMIT 2");
  const file = (row: Record<string, unknown> | undefined) =>
    join(demo.folder, 'certificates', String(row?.['file']));
  writeFileSync(file(one), 'not a certificate any more');
  rmSync(file(two));
  const found = (await faults()).filter(({ check }) => check === 'certificates');
  expect(found.map(({ fault }) => fault).toSorted((a, b) => a.localeCompare(b))).toEqual([
    'changed',
    'missing',
  ]);
});

test('without the registry the comparison says so, exit 5', async () => {
  const env = { ...demo.env, REGISTRY_BASE_URL: 'http://127.0.0.1:9' };
  const { exitCode, stderr } = await runCommand(['verify', '--against-registry'], { env });
  expect(exitCode).toBe(5);
  expect(stderr).toContain('The registry');
});
