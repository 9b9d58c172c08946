import { expect, test } from 'vitest';
import { computeBackoffMs, MAX_BACKOFF_MS } from '../../src/inbox/backoff.js';

test('T41 the backoff doubles up to 15 minutes and is randomized over its upper half', async () => {
  const longest = Array.from({ length: 12 }, (_, index) => computeBackoffMs(index + 1, 1));
  expect(longest.slice(0, 4)).toEqual([1000, 2000, 4000, 8000]);
  expect(longest.at(-1)).toBe(MAX_BACKOFF_MS);
  expect(MAX_BACKOFF_MS).toBe(15 * 60_000);
  expect(computeBackoffMs(4, 0)).toBe(4000);
  expect(computeBackoffMs(4, 0.5)).toBe(6000);
  expect(computeBackoffMs(1000, 1)).toBe(MAX_BACKOFF_MS);
  expect(computeBackoffMs(0, 0)).toBe(500);
});
