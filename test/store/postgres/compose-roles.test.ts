import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../../support/command.js';
import { openForTest, createDatabase } from '../../support/postgres.js';

const SCRIPT = join(import.meta.dirname, '../../../docs/postgres-roles.sql');

test('T88 the roles of compose.yaml can migrate and query, have no other rights, and cause no finding of doctor', async () => {
  const database = await createDatabase({ migrated: false });
  const postgres = openForTest(database, 1);
  const mark = randomBytes(6).toString('hex');
  const [owner, reader] = [`owner_${mark}`, `reader_${mark}`];
  const sql = readFileSync(SCRIPT, 'utf8')
    .replaceAll(/^\\set .*$/gm, '')
    .replaceAll(/:'\w+'/g, "'a password'")
    .replaceAll('carbon_mirror', owner)
    .replaceAll('questions', reader);
  await postgres.query(sql);
  onTestFinished(async () => {
    for (const role of [owner, reader])
      for (const undo of [`DROP OWNED BY ${role} CASCADE`, `DROP ROLE ${role}`]) await postgres.query(undo);
  });
  const urlOf = (role: string) => database.url.replace('//postgres@', `//${role}@`);
  const env = { MIRROR_DATABASE_URL: urlOf(owner), QUERY_DATABASE_URL: urlOf(reader) };
  const run = (...words: string[]) => runCommand(words, { env });
  expect(await run('migrate')).toMatchObject({ exitCode: 0 });
  const asked = await run('query', 'select count(*) as n, current_user as role from retirements', '--json');
  expect(JSON.parse(asked.stdout)).toEqual([{ n: 0, role: reader }]);
  for (const reaching of [
    "select pg_read_file('/etc/passwd')",
    'select rolpassword from pg_authid',
    "select pg_create_physical_replication_slot('a')",
    "select pg_logical_emit_message(false, 'a', 'b')",
    'select * from evidence.leaves',
  ])
    expect((await run('query', reaching)).stderr).toMatch(/^SQL: .*(permission denied|must be superuser)/);
  const doctor: { check: string; state: string }[] = JSON.parse((await run('doctor', '--json')).stdout);
  expect(doctor.filter(({ check }) => check === 'questions').map(({ state }) => state)).toEqual(['ok']);
  expect(doctor.filter(({ check }) => check === 'schema')).toEqual([]);
});
