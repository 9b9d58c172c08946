import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSqliteEngine } from '../../../src/store/sqlite/engine.js';
import { runCommand } from '../../support/command.js';
import { temporaryFolder } from '../../support/inbox.js';
import { createMigratedDatabases } from '../../support/migrated-databases.js';
import { migrateFile } from '../../../src/store/sqlite/migrate.js';
import { openTablesOfFile } from '../../support/tables.js';

const LAW = 'the schema is the one that the migrations create';
const NOW = Date.parse('2026-05-04T12:00:00.000Z');

function prepare() {
  const folder = temporaryFolder();
  createMigratedDatabases(folder);
  migrateFile(join(folder, 'evidence.db'), 'evidence', new Date(NOW).toISOString());
  const engine = createSqliteEngine({ dataDir: folder, diskReserveMb: 0, database: null });
  const change = (database: string, sql: string) =>
    openTablesOfFile(join(folder, `${database}.db`)).change(sql);
  const findChanges = async () =>
    (await engine.findConsistencyFaults(NOW)).filter(({ law }) => law === LAW).map(({ where }) => where);
  return { folder, change, findChanges };
}

test('a migrated schema counts as unchanged, even with an index added by the operator', async () => {
  const { change, findChanges } = prepare();
  expect(await findChanges()).toEqual([]);
  await change('mirror', 'CREATE INDEX of_the_operator ON retirements (beneficiary)');
  await change('mirror', 'CREATE VIEW of_the_operator_too AS SELECT 1 AS one');
  expect(await findChanges()).toEqual([]);
});

test.each([
  [
    'mirror.db: the view available_credits was changed',
    'mirror',
    'DROP VIEW available_credits; CREATE VIEW available_credits AS SELECT * FROM last_known_credits',
  ],
  ['mirror.db: the view drift is missing', 'mirror', 'DROP VIEW drift'],
  [
    'mirror.db: the trigger more was added',
    'mirror',
    'CREATE TRIGGER more AFTER INSERT ON retirements BEGIN DELETE FROM retirements; END',
  ],
  [
    'mirror.db: the unique index more was added',
    'mirror',
    'CREATE UNIQUE INDEX more ON retirements (organization_id)',
  ],
  ['inbox.db: the table jobs was changed', 'inbox', 'ALTER TABLE jobs ADD COLUMN more TEXT'],
  ['evidence.db: the index leaves_by_list is missing', 'evidence', 'DROP INDEX leaves_by_list'],
])('a changed schema is reported: %s', async (where, database, sql) => {
  const { folder, change, findChanges } = prepare();
  await change(database, sql);
  expect(await findChanges()).toEqual([where]);
  const run = (...words: string[]) => runCommand(words, { env: { DATA_DIR: folder }, now: () => NOW });
  const verified = await run('verify');
  expect(verified).toMatchObject({ exitCode: 3 });
  expect(verified.stdout).toContain(where);
  const doctor = JSON.parse((await run('doctor', '--json')).stdout);
  expect(doctor).toContainEqual(expect.objectContaining({ check: 'schema', state: 'fail', found: where }));
});
