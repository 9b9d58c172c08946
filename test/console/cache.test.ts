import { expect, test } from 'vitest';
import { createCache } from '../../src/console/cache.js';

test('a cached result is read again after a new key, its expiry or a clock set back, and not before', async () => {
  let reads = 0;
  const remembered = createCache<string>(1_000);
  const read = (now: number, key: string) => remembered(now, key, async () => `${key} ${(reads += 1)}`);
  expect([await read(0, 'one'), await read(999, 'one')]).toEqual(['one 1', 'one 1']);
  expect(await read(1_000, 'one')).toBe('one 2');
  expect([await read(1_001, 'two'), await read(1_002, 'two')]).toEqual(['two 3', 'two 3']);
  expect([await read(900, 'two'), await read(901, 'two')]).toEqual(['two 4', 'two 4']);
});

test('a failed read is not cached', async () => {
  const remembered = createCache<number>(1_000);
  await expect(remembered(0, '', () => Promise.reject(new Error('no answer')))).rejects.toThrow('no answer');
  expect(await remembered(1, '', async () => 2)).toBe(2);
});

test('a result may be cached the longer, the longer it took to read', async () => {
  let clock = 0;
  let reads = 0;
  const remembered = createCache<number>(
    tookMs => (tookMs < 100 ? 0 : 10 * tookMs),
    () => clock,
  );
  const readIn = (ms: number) => async () => {
    clock += ms;
    return (reads += 1);
  };
  expect(await remembered(0, '', readIn(99))).toBe(1);
  expect(await remembered(0, '', readIn(200))).toBe(2);
  expect(await remembered(1_999, '', readIn(200))).toBe(2);
  expect(await remembered(2_000, '', readIn(200))).toBe(3);
});

test('visitors share a result that is still being read', async () => {
  let reads = 0;
  const remembered = createCache<number>(() => 0);
  const read = async () => (reads += 1);
  expect(await Promise.all([remembered(0, '', read), remembered(60_000, '', read)])).toEqual([1, 1]);
  expect(await remembered(60_000, '', read)).toBe(2);
});
