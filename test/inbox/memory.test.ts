import { expect, test } from 'vitest';
import { createTransactionalCache, MAX_CACHED_KEYS } from '../../src/inbox/transactional-cache.js';

function learn(memory: ReturnType<typeof createTransactionalCache<number>>, keys: readonly number[]): void {
  for (const key of keys) memory.set(String(key), key);
  memory.committed();
}

test('a memory keeps the latest keys, and one that came again is among them', () => {
  const memory = createTransactionalCache<number>();
  learn(
    memory,
    Array.from({ length: MAX_CACHED_KEYS }, (_, key) => key),
  );
  expect(memory.get('0')).toBe(0);
  learn(memory, [0]);
  learn(memory, [MAX_CACHED_KEYS]);
  expect([0, 1, 2, MAX_CACHED_KEYS].map(key => memory.get(String(key)))).toEqual([
    0,
    undefined,
    2,
    MAX_CACHED_KEYS,
  ]);
});

test('what is learned within a transaction is known at once, and goes with it', () => {
  const memory = createTransactionalCache<number>();
  memory.set('a', 1);
  expect(memory.get('a')).toBe(1);
  memory.rolledBack();
  memory.committed();
  expect(memory.get('a')).toBe(undefined);
});
