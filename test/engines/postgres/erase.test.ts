import { expect, test } from 'vitest';
import { runCommand } from '../../support/command.js';
import { type Database, grantedTo, openTemporary, temporaryDatabase } from '../../support/postgres.js';

async function forget({ url }: Database, ...options: string[]) {
  const argv = ['forget', '--person', 'someone@example.org', '--json', ...options];
  const { exitCode, stdout, stderr } = await runCommand(argv, { env: { MIRROR_DATABASE_URL: url } });
  expect(exitCode).toBe(0);
  return { vacuumed: JSON.parse(stdout).vacuumed, stderr };
}

test('who may not vacuum is told so, and who may', async () => {
  const database = await temporaryDatabase();
  const owner = openTemporary(database, 1);
  const worker = await grantedTo(owner, database, 'work');
  const { vacuumed, stderr } = await forget(worker);
  expect(vacuumed).toBe(false);
  expect(stderr).toMatch(/^NOT vacuumed: permission denied to vacuum "\w+", skipping it \(and \d+ more\)\./m);
  expect(stderr).toContain('The owner of the tables may vacuum');
  const asOwner = await forget(database);
  expect(asOwner.vacuumed).toBe(true);
  expect(asOwner.stderr).not.toContain('NOT vacuumed');
});

test('one table that is not vacuumed is enough to say so', async () => {
  const database = await temporaryDatabase();
  const owner = openTemporary(database, 1);
  const worker = await grantedTo(owner, database, 'work');
  const role = `"${decodeURIComponent(new URL(worker.url).username).replaceAll('"', '""')}"`;
  await owner.query(`GRANT MAINTAIN ON ALL TABLES IN SCHEMA inbox, mirror TO ${role}`);
  expect(await forget(worker)).toMatchObject({ vacuumed: true });
  await owner.query(`REVOKE MAINTAIN ON mirror.members_past FROM ${role}`);
  const { vacuumed, stderr } = await forget(worker);
  expect(vacuumed).toBe(false);
  expect(stderr).toContain('NOT vacuumed: permission denied to vacuum "members_past", skipping it. ');
});

test('who asks that nothing be vacuumed is told how it is', async () => {
  expect(await forget(await temporaryDatabase(), '--no-vacuum')).toMatchObject({
    vacuumed: false,
    stderr: expect.stringContaining('without --no-vacuum it does so now'),
  });
});
