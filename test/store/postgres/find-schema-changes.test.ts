import { describe, expect, test } from 'vitest';
import { findConsistencyFaults } from '../../../src/store/postgres/find-consistency-faults.js';
import { runCommand } from '../../support/command.js';
import { createRole, openForTest, createDatabase } from '../../support/postgres.js';

const LAW = 'the schema is the one that the migrations create';
const NOW = Date.parse('2026-05-04T12:00:00.000Z');

async function prepare() {
  const database = await createDatabase();
  const owner = openForTest(database);
  const worker = openForTest(await createRole(owner, database, 'work'));
  const findChanges = async (postgres = worker) =>
    (await findConsistencyFaults(postgres, NOW)).filter(({ law }) => law === LAW).map(({ where }) => where);
  return { database, owner, worker, findChanges };
}

describe('the schema', () => {
  test('counts as unchanged with additions by the operator, and a comparison leaves nothing behind', async () => {
    const { owner, findChanges } = await prepare();
    const count = () => owner.query('SELECT count(*) AS n FROM pg_class');
    const before = await count();
    expect(await findChanges()).toEqual([]);
    expect(await findChanges(owner)).toEqual([]);
    expect(await count()).toEqual(before);
    await owner.query('CREATE INDEX of_the_operator ON mirror.retirements (beneficiary)');
    await owner.query('CREATE VIEW mirror.of_the_operator_too AS SELECT 1 AS one');
    await owner.query('ALTER TABLE mirror.past SET (autovacuum_vacuum_scale_factor = 0.01)');
    expect(await findChanges()).toEqual([]);
  });

  test('counts as unchanged after pg_restore recreated every view, index and constraint', async () => {
    const { owner, findChanges } = await prepare();
    const views = await owner.query<{ name: string; text: string }>(
      `SELECT oid::regclass::text AS name, pg_get_viewdef(oid) AS text FROM pg_class
       WHERE relkind = 'v' AND relnamespace = 'mirror'::regnamespace ORDER BY oid`,
    );
    expect(views.length).toBeGreaterThan(20);
    for (const { name, text } of views) await owner.query(`CREATE OR REPLACE VIEW ${name} AS ${text}`);
    const indexes = await owner.query<{ name: string; text: string }>(
      `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS text FROM pg_index
       JOIN pg_class ON pg_class.oid = indexrelid WHERE relnamespace IN ('mirror'::regnamespace, 'inbox'::regnamespace)
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)`,
    );
    expect(indexes.length).toBeGreaterThan(10);
    for (const { name, text } of indexes) await owner.query(`DROP INDEX ${name}; ${text}`);
    const checks = await owner.query<{ of: string; name: string; text: string }>(
      `SELECT conrelid::regclass::text AS of, quote_ident(conname) AS name, pg_get_constraintdef(oid) AS text FROM pg_constraint
       WHERE contype = 'c' AND connamespace IN ('mirror'::regnamespace, 'inbox'::regnamespace)`,
    );
    for (const { of, name, text } of checks)
      await owner.query(`ALTER TABLE ${of} DROP CONSTRAINT ${name}, ADD CONSTRAINT ${name} ${text}`);
    expect(await findChanges()).toEqual([]);
  });

  test.each([
    [
      'the view available_credits was changed',
      'DROP VIEW mirror.available_credits; CREATE VIEW mirror.available_credits AS SELECT * FROM mirror.last_known_credits',
    ],
    ['the view drift is missing', 'DROP VIEW mirror.drift'],
    ['the column jobs.more was added', 'ALTER TABLE inbox.jobs ADD COLUMN more text'],
    ['the column leaves.micro was changed', 'ALTER TABLE evidence.leaves ALTER COLUMN micro SET DEFAULT 7'],
    ['the index leaves_by_list is missing', 'DROP INDEX evidence.leaves_by_list'],
    ['the unique index more was added', 'CREATE UNIQUE INDEX more ON mirror.retirements (organization_id)'],
    [
      'the rule retirements.more was added',
      'CREATE RULE more AS ON DELETE TO mirror.retirements DO INSTEAD NOTHING',
    ],
    [
      'the trigger certificates.certificates_count_new was changed',
      'ALTER TABLE mirror.certificates DISABLE TRIGGER certificates_count_new',
    ],
    [
      'the function as_instant(instant text) was changed',
      "CREATE OR REPLACE FUNCTION mirror.as_instant(instant text) RETURNS timestamptz LANGUAGE sql STABLE AS 'SELECT now()'",
    ],
    ['the table members was changed', 'ALTER TABLE mirror.members ENABLE ROW LEVEL SECURITY'],
  ])('is reported if it was changed: %s', async (where, sql) => {
    const { database, owner, findChanges } = await prepare();
    await owner.query(sql);
    expect(await findChanges()).toEqual([where]);
    const env = { MIRROR_DATABASE_URL: database.url };
    const doctor = JSON.parse((await runCommand(['doctor', '--json'], { env })).stdout);
    expect(doctor).toContainEqual(expect.objectContaining({ check: 'schema', state: 'fail', found: where }));
  });
});
