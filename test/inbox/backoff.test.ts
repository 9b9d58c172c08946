import { expect, test } from 'vitest';
import { backoffMs, MAX_BACKOFF_MS } from '../../src/inbox/backoff.js';

test('backing off doubles up to 15 minutes, and is spread over the upper half', async () => {
  const longest = Array.from({ length: 12 }, (_, index) => backoffMs(index + 1, 1));
  expect(longest.slice(0, 4)).toEqual([1000, 2000, 4000, 8000]);
  expect(longest.at(-1)).toBe(MAX_BACKOFF_MS);
  expect(MAX_BACKOFF_MS).toBe(15 * 60_000);
  expect(backoffMs(4, 0)).toBe(4000);
  expect(backoffMs(4, 0.5)).toBe(6000);
  expect(backoffMs(1000, 1)).toBe(MAX_BACKOFF_MS);
  expect(backoffMs(0, 0)).toBe(500);
});
