import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/database/open.js';
import { runCommand } from '../support/command.js';
import { type DemoMirror, startDemoMirror } from '../support/demo-mirror.js';

let demo: DemoMirror;

beforeAll(async () => {
  demo = await startDemoMirror();
});

afterAll(async () => {
  await demo.stop();
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
