import { expect, test } from 'vitest';
import { choosePaceMs, computeStartTime, RECENT_READS } from '../../src/inbox/pace.js';

test.each([
  [[], 1000],
  [[false, true, true, true], 1000],
  [[true, false, true, true], 2000],
  [[true, true, false], 4000],
  [[true, true, true], 8000],
  [Array.from({ length: RECENT_READS }, () => true), 15_000],
])('after the reads %j, newest first and true if fruitless, duplicates wait %i ms', (reads, paceMs) => {
  expect(choosePaceMs(true, () => reads)).toBe(paceMs);
  expect(choosePaceMs(false, () => reads)).toBe(1000);
});

test.each([
  [null, 50_000],
  [40_000, 50_000],
  [49_500, 50_500],
  [90_000, 51_000],
])('a job whose predecessor started at %j starts at %i if it is 50000 now', (lastStart, startTime) => {
  expect(computeStartTime(lastStart, 1000, 50_000)).toBe(startTime);
});
