import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createToken, hashToken, type TokenGrant, TOKEN_PATTERN } from '../../src/inbox/token.js';
import { NOON } from '../support/inbox.js';
import { ENGINES } from '../support/mirror/open.js';

const SHOP: TokenGrant = {
  name: 'shop',
  scopes: ['lists', 'changes'],
  organizationIds: ['organization-1'],
  lists: ['warehouse', 'retirements'],
};

describe.each(ENGINES)('$name', ({ store }) => {
  test('a token is found by its hash until it is revoked, and its name is never used again', async () => {
    const { open } = await store();
    const { tokens } = open(() => NOON);
    const hash = hashToken(createToken(randomBytes));
    expect(await tokens.create(SHOP, hash)).toBe(true);
    expect(await tokens.create({ ...SHOP, scopes: [] }, hashToken('other'))).toBe(false);
    const stored = { ...SHOP, id: expect.any(Number), createdAt: '2026-05-04T12:00:00.000Z' };
    expect(await tokens.find(hash)).toEqual({ ...stored, revokedAt: null, lastUsedAt: null });
    expect(await tokens.find(hashToken('other'))).toBeNull();
    expect(await open(() => NOON + 1_000).tokens.revoke('shop')).toBe(true);
    expect(await tokens.find(hash)).toBeNull();
    expect(await tokens.revoke('shop')).toBe(false);
    expect(await tokens.list()).toEqual([
      { ...stored, revokedAt: '2026-05-04T12:00:01.000Z', lastUsedAt: null },
    ]);
    expect(await tokens.create(SHOP, hashToken('again'))).toBe(false);
  });

  test('the last use of several tokens is recorded', async () => {
    const { open } = await store();
    const { tokens } = open(() => NOON);
    for (const name of ['a', 'b', 'c']) await tokens.create({ ...SHOP, name, organizationIds: null }, name);
    const [first, second] = await tokens.list();
    await open(() => NOON + 5_000).tokens.recordUse([first, second].map(token => token?.id ?? 0));
    await tokens.recordUse([]);
    expect((await tokens.list()).map(({ lastUsedAt }) => lastUsedAt)).toEqual([
      '2026-05-04T12:00:05.000Z',
      '2026-05-04T12:00:05.000Z',
      null,
    ]);
    expect((await tokens.find('a'))?.organizationIds).toBeNull();
  });

  test('the database holds no token, only its hash', async () => {
    const { db, open } = await store();
    const token = createToken(randomBytes);
    await open(() => NOON).tokens.create(SHOP, hashToken(token));
    const [row] = await db.rows('SELECT * FROM tokens');
    expect(token).toMatch(TOKEN_PATTERN);
    for (const other of [`x${token}`, `${token}x`, token.slice(1)]) expect(other).not.toMatch(TOKEN_PATTERN);
    expect(JSON.stringify(row)).not.toContain(token.slice(3));
    expect(row).toMatchObject({ token_sha256: hashToken(token) });
  });
});
