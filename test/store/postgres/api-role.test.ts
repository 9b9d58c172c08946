import { expect, test } from 'vitest';
import { readLastNumber } from '../../../src/query/history/changes.js';
import { createReader } from '../../../src/store/postgres/reader.js';
import { EVERYTHING } from '../../support/api.js';
import { NOON } from '../../support/inbox.js';
import { createDatabase, openForTest, openInboxOnPostgres, openWithRole } from '../../support/postgres.js';

test('T111 the role of the API can read, record the use of tokens, and change nothing else', async () => {
  const database = await createDatabase();
  const owner = openForTest(database);
  await openInboxOnPostgres(owner)
    .open(() => NOON)
    .tokens.create({ ...EVERYTHING, name: 'shop' }, 'hash');
  const role = await openWithRole(owner, database, 'api');
  const { tokens } = openInboxOnPostgres(role).open(() => NOON);
  expect(await readLastNumber(createReader(role))).toBe(0);
  const found = await tokens.find('hash');
  expect(found).toMatchObject({ name: 'shop', lastUsedAt: null });
  await tokens.recordUse([found?.id ?? 0]);
  expect((await tokens.list())[0]?.lastUsedAt).toBe('2026-05-04T12:00:00.000Z');
  for (const statement of [
    "UPDATE inbox.tokens SET lists = '[]'",
    'UPDATE inbox.tokens SET revoked_at = NULL',
    'DELETE FROM inbox.tokens',
    'DELETE FROM inbox.deliveries',
    "UPDATE inbox.jobs SET state = 'done'",
    "UPDATE mirror.installations SET state = 'active'",
  ])
    await expect(role.query(statement), statement).rejects.toThrow(/permission denied/);
  await expect(tokens.create({ ...EVERYTHING, name: 'mine' }, 'mine')).rejects.toThrow(/permission denied/);
  await expect(tokens.revoke('shop')).rejects.toThrow(/permission denied/);
});
