import { expect, test } from 'vitest';
import { formatAge, formatDuration, formatEstimate, parseDuration } from '../../src/text/duration.js';

test.each([
  ['1ms', 1],
  ['500ms', 500],
  ['30s', 30_000],
  ['1.5m', 90_000],
  ['10min', 600_000],
  ['2h', 7_200_000],
  ['1d', 86_400_000],
  ['0.0004s', 0],
  ['', null],
  ['30', null],
  ['s', null],
  ['-1s', null],
  [' 1s', null],
  ['1s ', null],
  ['1.s', null],
  ['1w', null],
])('the duration "%s" is %s ms', (text, ms) => expect(parseDuration(text)).toBe(ms));

test.each([
  [-3, '0 s'],
  [0, '0 s'],
  [59.9, '59 s'],
  [119, '119 s'],
  [120, '2 min'],
  [7_199, '119 min'],
  [7_200, '2 h'],
  [172_799, '47 h'],
  [172_800, '2 d'],
])('%s seconds are written as %s', (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
  expect(formatAge('2026-05-04T12:00:00Z', Date.parse('2026-05-04T12:00:00Z') + 1000 * seconds)).toBe(text);
});

test.each([
  [59, 'less than a minute'],
  [60, 'about 1 minute'],
  [89, 'about 1 minute'],
  [90, 'about 2 minutes'],
  [7_169, 'about 119 minutes'],
  [7_170, 'about 2 hours'],
  [9_000, 'about 3 hours'],
])('an estimate of %s seconds is %s', (seconds, text) => expect(formatEstimate(seconds)).toBe(text));
