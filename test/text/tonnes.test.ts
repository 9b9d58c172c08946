import { describe, expect, test } from 'vitest';
import { formatSumsByType, formatTonnes, formatWholeTonnes } from '../../src/text/tonnes.js';

test.each([
  [0n, '0', '0'],
  [1n, '0.000001', '<1'],
  [15_050_000n, '15.05', '15'],
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

describe('sums by credit type', () => {
  test('list ex-post before ex-ante, and types that are unknown or missing last', () => {
    const rows = [
      { type: null, amount_micro: 1_000_000 },
      { type: 'exAnte', amount_micro: 2_000_000 },
      { type: 'exPost', amount_micro: 3_000_000n },
      { type: 'exAnte', amount_micro: 500_000 },
    ];
    expect(formatSumsByType(rows)).toBe('3 t ex-post, 2.5 t ex-ante and 1 t of no type');
    expect(formatSumsByType([{ type: 'exNew', amount_micro: 1 }, ...rows.slice(1, 2)])).toBe(
      '2 t ex-ante and 0.000001 t exNew',
    );
  });

  test('name no type if the rows have none, and count a missing amount as 0', () => {
    expect(formatSumsByType([{ amount_micro: 2_000_000 }, { amount_micro: null }])).toBe('2 t');
    expect(formatSumsByType([])).toBe('0 t');
  });
});
