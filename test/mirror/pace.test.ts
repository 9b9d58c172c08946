import { expect, test } from 'vitest';
import { Pace } from '../../src/mirror/list/pace.js';

function after(...slices: readonly [rows: number, ms: number][]): number {
  const pace = new Pace();
  for (const [rows, ms] of slices) pace.note(rows, ms);
  return pace.rows;
}

test('a transaction takes as many rows as are written in a short time, from 200 to 4,000', () => {
  expect(after()).toBe(400);
  expect(after([400, 60])).toBe(400);
  expect(after([400, 120])).toBe(200);
  expect(after([400, 1_000])).toBe(200);
  expect(after([400, 40])).toBe(600);
  expect(after([3_000, 30])).toBe(4_000);
});

test('it grows to twice as many at most, however fast one was, and goes by no few rows', () => {
  expect(after([400, 0])).toBe(800);
  expect(after([400, 0], [800, 0])).toBe(1_600);
  expect(after([400, 0], [10, 5_000])).toBe(800);
});
