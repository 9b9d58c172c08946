import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { LISTS } from '../../src/resources/lists.js';
import { findContradictedRows } from '../../src/cli/commands/verify/contradicted-rows.js';
import { DERIVED_TABLES } from '../../src/sync/derived-columns.js';
import type { Query, Reader } from '../../src/store/contract/reader.js';
import { openReader } from '../../src/store/sqlite/reader.js';
import { formatWithCommas } from '../../src/text/numbers.js';
import { parseObject } from '../../src/registry/json/json-object.js';
import { parseRetirement } from '../../src/registry/json/parse-objects.js';
import { runCommand } from '../support/command.js';
import { startDemoForFile } from '../support/mirror/demo.js';
import { MINUTE, openMirror } from '../support/mirror/open.js';
import { temporaryFolder, temporaryInbox } from '../support/inbox.js';
import {
  copyDatabases,
  openMirrorAndInbox,
  type Tables,
  openTablesIn,
  createTables,
  type Value,
} from '../support/tables.js';
import { makeFolder } from '../support/folder.js';

const demo = await startDemoForFile();
/** A copy of both databases to which no process writes. */
const intactFolder = makeFolder('carbon-mirror-whole-');
copyDatabases(demo.folder, intactFolder);

afterAll(() => rmSync(intactFolder, { recursive: true }));

async function run(...argv: string[]) {
  return await runCommand(['verify', ...argv], { env: demo.env });
}

async function faults(...argv: string[]): Promise<{ check: string; where: string; fault: string }[]> {
  const { exitCode, stdout } = await run(...argv, '--json');
  const { faults: found } = JSON.parse(stdout);
  expect(exitCode).toBe(found.length === 0 ? 0 : 3);
  return found;
}

test('verify passes for an intact mirror, also with --against-registry', async () => {
  const { exitCode, stdout, stderr } = await run();
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' });
  expect(stderr).toContain('145 certificates');
  const compared = await run('--against-registry');
  expect(compared).toMatchObject({ exitCode: 0 });
  expect(compared.stderr).toMatch(/rows match the registry \((\d+) of \1 organizations\)/);
});

test('verify names lists that cannot be compared and fails if that is all of them', async () => {
  const [{ name, id } = { name: '', id: '' }] = await demo.rows(
    'SELECT o.full_name AS name, o.id FROM organizations AS o JOIN resource_states AS s ON s.organization_id = o.id ORDER BY o.id LIMIT 1',
  );
  const resource = 'inventory';
  const condition = `organization_id = '${String(id)}' AND resource = '${resource}'`;
  await demo.change(`UPDATE resource_states SET no_permission_at = as_of WHERE ${condition}`);
  const some = await run('--against-registry', '--json');
  expect(some).toMatchObject({ exitCode: 0 });
  expect(some.stderr).toContain(`Not compared: ${String(name)}, inventory: no access (no permission).`);
  expect(JSON.parse(some.stdout)).toMatchObject({
    not_compared: [{ organization_id: id, resource, state: 'no_access', reason: 'no_permission' }],
  });
  await demo.change(`UPDATE resource_states SET no_permission_at = NULL WHERE ${condition};
    CREATE TABLE installed AS SELECT version, id, document FROM installations;
    UPDATE installations SET state = 'uninstalled', id = 'gone-' || id, document = json_set(document, '$.id', 'gone-' || id)`);
  const none = await run('--against-registry');
  expect(none).toMatchObject({ exitCode: 3 });
  expect(none.stderr).toContain(`${String(name)}: no access (uninstalled)`);
  expect(none.stderr).toContain('Nothing was compared with the registry');
  await demo.change(`UPDATE installations SET state = 'active', (id, document) =
      (SELECT id, document FROM installed WHERE installed.version = installations.version);
    DROP TABLE installed`);
});

test('--against-registry finds an installation whose state was changed by hand', async () => {
  const [first, second] = ['(SELECT min(id) FROM installations)', '(SELECT max(id) FROM installations)'];
  await demo.change(`UPDATE installations SET state = 'suspended' WHERE id = ${first};
    UPDATE installations SET state = 'uninstalled' WHERE id = ${second}`);
  const found = await faults('--against-registry');
  await demo.change("UPDATE installations SET state = 'active'");
  const installationFindings = found.filter(({ check }) => check.startsWith('installations '));
  expect(installationFindings.map(({ fault }) => fault)).toEqual(
    expect.arrayContaining(['changed', 'not in the mirror']),
  );
});

test('--against-registry accepts an installation that is suspended on both sides', async () => {
  const { installations } = demo.sandbox.registry;
  const [{ id, organization } = { id: '', organization: { id: '' } }] = installations.listAll();
  const state = async () =>
    (await demo.rows('SELECT state FROM installations WHERE id = ?', id))[0]?.['state'];
  installations.suspend(id);
  await expect.poll(state).toBe('suspended');
  const found = await faults('--against-registry');
  const alone = await run('--against-registry', '--organization', organization.id);
  installations.unsuspend(id);
  await expect.poll(state).toBe('active');
  expect(found.filter(({ check }) => check.startsWith('installations '))).toEqual([]);
  expect(alone).toMatchObject({ exitCode: 3 });
  expect(alone.stderr).toContain('Nothing was compared with the registry');
});

test('--against-registry with --organization compares the rows, installation and projects of that one only', async () => {
  const owners = await demo.rows(
    'SELECT o.id, o.full_name FROM organizations AS o JOIN installations AS i ON i.organization_id = o.id ORDER BY o.id LIMIT 2',
  );
  const [one, other] = owners.map(row => ({ id: String(row['id']), name: String(row['full_name']) }));
  await demo.change(`CREATE TABLE whole AS SELECT id, organization_id, document FROM installations;
    UPDATE installations SET document = replace(document, '{', '{ ')
      WHERE organization_id IN ('${one?.id}', '${other?.id}')`);
  const found = await faults('--against-registry', '--organization', other?.name ?? '');
  const whole = await faults('--against-registry');
  await demo.change(`UPDATE installations SET document = (SELECT document FROM whole WHERE whole.id = installations.id);
    DROP TABLE whole`);
  expect(found).toMatchObject([{ check: `installations of ${other?.id}`, fault: 'changed' }]);
  expect(whole.map(({ check }) => check).toSorted()).toEqual(
    [`installations of ${one?.id}`, `installations of ${other?.id}`].toSorted(),
  );
  const intact = await run('--against-registry', '--organization', other?.id ?? '');
  expect(intact).toMatchObject({ exitCode: 0 });
  expect(intact.stderr).toContain('rows match the registry (1 of 1 organization)');
  const unknown = await run('--against-registry', '--organization', 'nobody');
  expect(unknown).toMatchObject({ exitCode: 6, stdout: '' });
  expect(unknown.stderr).toContain('carbon-mirror organizations list');
  const alone = await run('--organization', other?.id ?? '');
  expect(alone).toMatchObject({ exitCode: 2 });
  expect(alone.stderr).toContain('--organization requires --against-registry.');
  const both = await run('--against-registry', '--evidence', 'folder');
  expect(both).toMatchObject({ exitCode: 2 });
  expect(both.stderr).toContain('--evidence and --against-registry exclude each other.');
});

test('--against-registry compares installations and projects', async () => {
  expect(await run('--against-registry')).toMatchObject({ exitCode: 0, stdout: '' });
  await demo.change(`UPDATE projects SET full_name = 'Elsewhere', document = json_set(document, '$.fullName', 'Elsewhere')
      WHERE id = (SELECT min(id) FROM projects);
    UPDATE installations SET document = replace(document, '{', '{ ') WHERE id = (SELECT min(id) FROM installations)`);
  const found = await faults('--against-registry');
  const checks = found.map(({ check, fault }) => `${check.split(' ')[0]} ${fault}`);
  expect(checks).toEqual(['installations changed', 'projects changed']);
  expect((await faults()).map(({ check }) => check)).toEqual([]);
});

test('--against-registry names an unreadable row, compares the others and exits with 3', async () => {
  const members = await demo.rows('SELECT organization_id, document FROM members ORDER BY organization_id');
  const [{ organization_id: id, document } = { organization_id: '', document: '' }] = members;
  const body = { members: [{ id: 'nameless' }, JSON.parse(String(document))] };
  const path = `/organizations/${String(id)}/members`;
  demo.sandbox.registry.faults.add({ path, kind: 'wrongShape', options: { body }, count: 9 });
  const found = await faults('--against-registry');
  demo.sandbox.registry.faults.clear();
  const ofMembers = found.filter(
    ({ check, fault }) => check.startsWith('members') && fault !== 'not at the registry',
  );
  expect(ofMembers).toMatchObject([
    {
      check: `members of ${String(id)}`,
      where: 'nameless',
      fault: expect.stringMatching(/^unreadable at the registry: members\[0\]/),
    },
  ]);
});

test('--against-registry finds rows that were changed, added or removed by hand and exits with 3', async () => {
  await demo.change(`
    CREATE TABLE aside AS SELECT * FROM retirements;
    UPDATE retirements SET document = replace(document, '"id"', '"ID"') WHERE id = (SELECT min(id) FROM retirements);
    DELETE FROM retirements WHERE id = (SELECT max(id) FROM retirements);
    UPDATE warehouse_credits SET credit_id = 'exPost-0-0x0' WHERE version = (SELECT min(version) FROM warehouse_credits)`);
  const { exitCode, stdout, stderr } = await run('--against-registry');
  expect(exitCode).toBe(3);
  expect(stderr).toContain('"carbon-mirror sync --full" restores');
  for (const text of ['changed', 'not in the mirror', 'not at the registry', 'exPost-0-0x0'])
    expect(stdout).toContain(text);
});

test('verify also checks the inbox, and names each law that is broken', async () => {
  const folder = makeFolder('carbon-mirror-broken-');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(intactFolder, folder, { recursive: true });
  expect(await brokenLaws(folder)).toEqual([]);
  await openTablesIn(folder).change(`UPDATE fences SET claim = 1e9;
    UPDATE inbox.signed_texts SET signed_data = signed_data || 'A';
    UPDATE inbox.deliveries SET signed_text_sha256 = 'another', received_at = '2999-01-01T00:00:00.000Z'`);
  expect(new Set(await brokenLaws(folder))).toEqual(
    new Set([
      'no claim in the mirror is higher than the claim counter of the inbox',
      'each signed text matches its SHA-256',
      'signed_text_sha256 of each delivery is the hash of its stored signed text',
      'no delivery is dated in the future',
    ]),
  );
});

async function brokenLaws(dataDir: string): Promise<string[]> {
  const { stdout } = await runCommand(['verify', '--json'], { env: { DATA_DIR: dataDir } });
  const { faults: found }: { faults: { check: string }[] } = JSON.parse(stdout);
  return found.map(({ check }) => check).filter(check => check !== 'certificates');
}

test('verify reads each version once and in one query for each table, however many there are', async () => {
  const reader = openReader({
    mirrorFile: join(intactFolder, 'mirror.db'),
    inboxFile: join(intactFolder, 'inbox.db'),
  });
  onTestFinished(() => reader.close());
  const streamed: string[] = [];
  const counting: Reader = {
    ...reader,
    all: async () => expect.fail('versions are read in pages, each of which may read all rows'),
    stream: <Row>(query: Query<Row>) => {
      streamed.push(reader.formatQuery(query));
      return reader.stream(query);
    },
  };
  let rows = 0;
  await findContradictedRows(counting, rowCount => (rows += rowCount));
  const tables = DERIVED_TABLES.map(table => `${table}_history`);
  const counts = await Promise.all(
    tables.map(table => reader.all(sql<{ n: number }>`SELECT count(*) AS n FROM ${sql.table(table)}`)),
  );
  expect(rows).toBe(counts.flat().reduce((sum, { n }) => sum + n, 0));
  expect(rows).toBeGreaterThan(0);
  expect(streamed).toEqual(tables.map(table => expect.stringContaining(table)));
});

/** Columns that no document contains: bookkeeping of the mirror, and the organization of the list. */
const OWN = new Set([
  'version',
  'valid_from',
  'valid_to',
  'sync_id',
  'closed_by',
  'closed_version',
  'document',
  'organization_id',
]);

/** More columns that are not derived from a document. Other invariants cover them. */
const ELSEWHERE = new Set(['installations.state', 'organizations.id']);

test('verify names each column that was changed by hand in any table', async () => {
  const folder = makeFolder('carbon-mirror-columns-');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(intactFolder, folder, { recursive: true });
  const reader = openReader({ mirrorFile: join(folder, 'mirror.db'), inboxFile: join(folder, 'inbox.db') });
  onTestFinished(() => reader.close());
  expect(await findContradictedRows(reader)).toEqual([]);
  const db = openMirrorAndInbox(folder, false);
  onTestFinished(() => void db.close());
  const copy = createTables(db);
  const rows = await Promise.all(
    ['projects', 'installations', ...Object.values(LISTS).map(list => list.table)].map(table =>
      newestOf(copy, table),
    ),
  );
  const changed: string[] = [];
  for (let place = 0; rows.some(({ columns }) => place < columns.length); place++) {
    const now = rows.flatMap(({ columns, ...row }) =>
      columns.slice(place, place + 1).map(at => ({ ...row, ...at })),
    );
    for (const { table, version, name, other } of now)
      await copy.change(`UPDATE ${table} SET ${name} = ${other} WHERE version = ?`, version);
    const contradictions = (await findContradictedRows(reader)).map(({ law, where }) => `${law}: ${where}`);
    expect(contradictions.toSorted()).toEqual(
      now
        .map(
          ({ table, version, name }) =>
            `each column of ${table} matches its document: version ${version}: ${name}`,
        )
        .toSorted(),
    );
    for (const { table, version, name, before } of now)
      await copy.change(`UPDATE ${table} SET ${name} = ? WHERE version = ?`, before, version);
    changed.push(...now.map(({ table, name }) => `${table}.${name}`));
  }
  expect(changed.length).toBeGreaterThan(60);
  expect(new Set(changed.map(name => name.split('.')[0])).size).toBeGreaterThan(7);
});

test('verify lists five faults of a kind and counts all of them', async () => {
  const folder = makeFolder('carbon-mirror-many-');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  cpSync(intactFolder, folder, { recursive: true });
  const env = { ...demo.env, DATA_DIR: folder };
  const db = openMirrorAndInbox(folder, false);
  const copy = createTables(db);
  await copy.change("UPDATE retirements SET beneficiary = 'Nobody'");
  await copy.change("UPDATE retirements SET valid_from = '2999-01-01T00:00:00.000Z'");
  const many = (await copy.value<number>('SELECT count(*) FROM retirements')) ?? 0;
  db.close();
  const { exitCode, stdout } = await runCommand(['verify', '--json'], { env });
  expect(exitCode).toBe(3);
  const { faults: found, rows_checked: rows }: Verdict = JSON.parse(stdout);
  const law = 'each column of retirements matches its document';
  const lawFindings = found.filter(({ check }) => check === law);
  expect([lawFindings.length, lawFindings.at(-1)?.where, sumOf(lawFindings)]).toEqual([
    6,
    `${many - 5} more`,
    many,
  ]);
  expect(rows).toBeGreaterThan(many);
  const verified = await runCommand(['verify'], { env });
  expect(verified.stderr).toContain(`Verification failed: ${formatWithCommas(sumOf(found))} faults.`);
  expect(found.length).toBeLessThan(sumOf(found));
});

interface Verdict {
  readonly faults: readonly { readonly check: string; readonly where: string; readonly count: number }[];
  readonly rows_checked: number;
}

function sumOf(all: Verdict['faults']): number {
  return all.reduce((sum, { count }) => sum + count, 0);
}

/** Returns the newest row of a table, and for each column its value and a wrong value. */
async function newestOf({ rows, row, value }: Tables, table: string) {
  const found = await row<{ version: number }>(`SELECT max(version) AS version FROM ${table}`);
  const version = found?.version ?? null;
  const columnInfos = await rows<{ name: string; type: string }>(
    `SELECT name, type FROM pragma_table_info('${table}')`,
  );
  const columns = [];
  for (const { name, type } of version === null ? [] : columnInfos) {
    if (OWN.has(name) || ELSEWHERE.has(`${table}.${name}`)) continue;
    const other = type === 'TEXT' ? `coalesce(${name}, '') || ' '` : `coalesce(${name}, 0) + 1`;
    const before = (await value<Value>(`SELECT ${name} FROM ${table} WHERE version = ?`, version)) ?? null;
    columns.push({ name, other, before });
  }
  return { table, version, columns };
}

function retired(beneficiary: string) {
  const sent = { id: 'r-1', amount: 12.5, beneficiary, createdAt: '2026-03-01T10:00:00.000Z' };
  return parseRetirement(parseObject(JSON.stringify(sent), 'retirement'));
}

test.each([
  [
    'each replaced version of retirements ends when the next one begins',
    "valid_to = '2026-05-04T12:00:30.000Z'",
  ],
  [
    'each column of retirements matches its document',
    "cells = json_set(cells, '$.beneficiary', 'Somebody Else')",
  ],
  ['each column of retirements matches its document', "document = replace(document, 'Harbour', 'Ferry')"],
])('verify reports a changed history: %s', async (law, breakage) => {
  const folder = temporaryFolder();
  const inbox = temporaryInbox(folder);
  const { db, clock, read } = await openMirror({ folder });
  await read('retirements', [retired('Harbour Ferries')]);
  clock.at += MINUTE;
  await read('retirements', [retired('Another')]);
  inbox.exec('UPDATE claims SET last = 1');
  const laws = async () => {
    const { stdout } = await runCommand(['verify', '--json'], {
      env: { DATA_DIR: folder },
      now: () => clock.at,
    });
    const { faults: found }: { faults: { check: string }[] } = JSON.parse(stdout);
    return found.map(({ check }) => check);
  };
  expect(await laws()).toEqual([]);
  await db.change(`UPDATE past SET ${breakage}`);
  expect(await laws()).toContain(law);
});

test('verify finds a changed or removed certificate by its hash', async () => {
  const [one, two] = await demo.rows(
    "SELECT file FROM certificates WHERE state = 'stored' ORDER BY file LIMIT 2",
  );
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

test('--against-registry exits with 5 if the registry is unreachable', async () => {
  const env = { ...demo.env, REGISTRY_BASE_URL: 'http://127.0.0.1:9' };
  const { exitCode, stderr } = await runCommand(['verify', '--against-registry'], { env });
  expect(exitCode).toBe(5);
  expect(stderr).toContain('The registry');
});
