import { expect, test } from 'vitest';
import type { Postgres } from '../../../src/store/postgres/open-postgres.js';
import { runCommand } from '../../support/command.js';
import { type TestDatabase, createRole, openForTest, createDatabase } from '../../support/postgres.js';

async function forget({ url }: TestDatabase, ...options: string[]) {
  const argv = ['forget', '--person', 'someone@example.org', '--json', ...options];
  const { exitCode, stdout, stderr } = await runCommand(argv, { env: { MIRROR_DATABASE_URL: url } });
  expect(exitCode).toBe(0);
  return { vacuumed: JSON.parse(stdout).vacuumed, stderr };
}

/** The right to vacuum what is somebody else's, since PostgreSQL 17. */
async function hasMaintain({ query }: Postgres): Promise<boolean> {
  const [row] = await query<{ version: number }>(
    "SELECT current_setting('server_version_num')::int AS version",
  );
  return Number(row?.version) >= 170_000;
}

test('forget reports missing vacuum rights and who has them', async () => {
  const database = await createDatabase();
  const owner = openForTest(database, 1);
  const worker = await createRole(owner, database, 'work');
  const { vacuumed, stderr } = await forget(worker);
  expect(vacuumed).toBe(false);
  expect(stderr).toMatch(/^NOT vacuumed: .*"\w+".* \(and \d+ more\)\./m);
  expect(stderr).toContain('Only the owner of the tables may vacuum');
  const asOwner = await forget(database);
  expect(asOwner.vacuumed).toBe(true);
  expect(asOwner.stderr).not.toContain('NOT vacuumed');
});

test('forget reports even one table that was not vacuumed', async () => {
  const database = await createDatabase();
  const owner = openForTest(database, 1);
  const worker = await createRole(owner, database, 'work');
  if (!(await hasMaintain(owner))) return;
  const role = `"${decodeURIComponent(new URL(worker.url).username).replaceAll('"', '""')}"`;
  await owner.query(`GRANT MAINTAIN ON ALL TABLES IN SCHEMA inbox, mirror TO ${role}`);
  expect(await forget(worker)).toMatchObject({ vacuumed: true });
  await owner.query(`REVOKE MAINTAIN ON mirror.past FROM ${role}`);
  const { vacuumed, stderr } = await forget(worker);
  expect(vacuumed).toBe(false);
  expect(stderr).toContain('NOT vacuumed: permission denied to vacuum "past", skipping it. ');
});

test('forget --no-vacuum states that deleted rows were not vacuumed', async () => {
  expect(await forget(await createDatabase(), '--no-vacuum')).toMatchObject({
    vacuumed: false,
    stderr: expect.stringContaining('without --no-vacuum it does so now'),
  });
});

test('T75 forget says what a vacuum leaves of a row, and its advice removes the rest', async () => {
  const database = await createDatabase();
  const owner = openForTest(database, 1);
  await owner.query(
    `INSERT INTO mirror.past (closed_version, version, resource, organization_id, key, valid_from, valid_to, sync_id,
       closed_by, cells, document, is_removed)
     SELECT n + 2, n, 'members', 'organization-1', n, now(), now(), 1, 1, jsonb_build_object('email', email), '{}', 1
     FROM (VALUES (1, 'another@example.org'), (2, 'someone@example.org')) AS v (n, email)`,
  );
  const isInFile = async () => {
    await owner.query('CHECKPOINT');
    const [row] = await owner.query<{ found: boolean }>(
      `SELECT position('someone@example.org'::bytea IN
         pg_read_binary_file(pg_relation_filepath('mirror.past'))) > 0 AS found`,
    );
    return row?.found;
  };
  const { stderr } = await forget(database);
  expect(await owner.query("SELECT cells ->> 'email' AS email FROM mirror.past")).toEqual([
    { email: 'another@example.org' },
  ]);
  expect(await isInFile()).toBe(true);
  expect(stderr).toContain("may stay in free space of the server's files");
  await owner.query('VACUUM FULL mirror.past');
  expect(await isInFile()).toBe(false);
});
