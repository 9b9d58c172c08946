import { expect, test } from 'vitest';
import { getRetryDelayMs, isGivenUp } from '../../src/events/send/retry.js';

const NOON = Date.parse('2026-05-04T12:00:00.000Z');
const [MINUTE_MS, HOUR_MS] = [60_000, 3_600_000];

test('a refused event is sent again after 5 s, and after longer delays up to 4 h', () => {
  const delays = Array.from({ length: 11 }, (_, index) => getRetryDelayMs(index + 1));
  expect(delays.slice(0, 6)).toEqual([5000, 30_000, ...[2, 5, 15, 30].map(each => each * MINUTE_MS)]);
  expect(delays.slice(6)).toEqual([1, 2, 4, 4, 4].map(each => each * HOUR_MS));
});

test('a sender gives up after three days of failures', () => {
  const failingSince = new Date(NOON).toISOString();
  expect(isGivenUp(failingSince, NOON + 72 * HOUR_MS - 1)).toBe(false);
  expect(isGivenUp(failingSince, NOON + 72 * HOUR_MS)).toBe(true);
});
