import { expect, test } from 'vitest';
import { formatCount, formatKnownOrganizations, formatOmittedCount } from '../../src/text/numbers.js';

test.each([
  [1, 'job', '1 job'],
  [0, 'job', '0 jobs'],
  [1_000, 'delivery', '1,000 deliveries'],
  [2, 'address', '2 addresses'],
  [1_234_567, 'row', '1,234,567 rows'],
])('%i of "%s" is written as %s', (count, noun, text) => expect(formatCount(count, noun)).toBe(text));

test('a truncated list says how many items are not shown', () => {
  expect(formatOmittedCount(1_021)).toBe('and 1,001 more');
  expect(formatOmittedCount(21)).toBe('and 1 more');
  expect(formatOmittedCount(20)).toBeNull();
  expect(formatOmittedCount(6, 5)).toBe('and 1 more');
});

test('known organizations are counted', () => {
  expect(formatKnownOrganizations(1)).toBe('the 1 known organization');
  expect(formatKnownOrganizations(4)).toBe('the 4 known organizations');
});
