import { expect, test } from 'vitest';
import { formatTonnes, formatWholeTonnes } from '../../src/text/tonnes.js';

test.each([
  [0n, '0', '0'],
  [1n, '0.000001', '<1'],
  [999_999n, '0.999999', '<1'],
  [1_000_000n, '1', '1'],
  [1_999_999n, '1.999999', '1'],
  [6_300_200_000n, '6,300.2', '6,300'],
  [-1_200_500_000n, '-1,200.5', '-1,200'],
  [9_007_199_254_740_993_000_000n, '9,007,199,254,740,993', '9,007,199,254,740,993'],
])('%s micro-tonnes are %s t, and %s in a table of whole tonnes', (micro, exact, whole) => {
  expect(formatTonnes(micro)).toBe(exact);
  expect(formatWholeTonnes(micro)).toBe(whole);
});
