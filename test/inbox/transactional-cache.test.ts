import { expect, test } from 'vitest';
import { createTransactionalCache, MAX_CACHED_KEYS } from '../../src/inbox/transactional-cache.js';

function commitKeys(
  cache: ReturnType<typeof createTransactionalCache<number>>,
  keys: readonly number[],
): void {
  for (const key of keys) cache.set(String(key), key);
  cache.commit();
}

test('the cache keeps the latest keys, and setting a key again makes it the latest', () => {
  const cache = createTransactionalCache<number>();
  commitKeys(
    cache,
    Array.from({ length: MAX_CACHED_KEYS }, (_, key) => key),
  );
  expect(cache.get('0')).toBe(0);
  commitKeys(cache, [0]);
  commitKeys(cache, [MAX_CACHED_KEYS]);
  expect([0, 1, 2, MAX_CACHED_KEYS].map(key => cache.get(String(key)))).toEqual([
    0,
    undefined,
    2,
    MAX_CACHED_KEYS,
  ]);
});

test('a value set in a transaction is visible at once and discarded on rollback', () => {
  const cache = createTransactionalCache<number>();
  cache.set('a', 1);
  expect(cache.get('a')).toBe(1);
  cache.rollBack();
  cache.commit();
  expect(cache.get('a')).toBe(undefined);
});
