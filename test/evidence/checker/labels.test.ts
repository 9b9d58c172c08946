import { expect, test } from 'vitest';
import { chooseColumns, formatColumnName } from '../../../src/evidence/checker/column-labels.js';
import { formatCount, formatTonnes } from '../../../src/evidence/checker/text.js';
import { listRelations } from '../../../src/store/migrations.js';

/** The columns of some tables whose rows are sealed. */
const COLUMNS = listRelations('sqlite', 'mirror')
  .filter(({ name }) => /^mirror\.(retirements|inventory_credits|organizations|reservations)$/.test(name))
  .flatMap(({ columns }) => Object.keys(columns));

test('the table of a list shows no column that repeats another one', () => {
  expect(chooseColumns(['kind', 'resource', 'amount', 'amount_micro', 'amount_exact', 'id'], true)).toEqual([
    'amount_exact',
    'id',
  ]);
});

test.each(chooseColumns(new Set(COLUMNS), true))('the column %s has a label', column => {
  expect(formatColumnName(column)).toMatch(/^[A-Z]/);
});

test.each([
  [6_300_200_000n, '6,300.2 t'],
  [-1_234_567_000_001n, '-1,234,567.000001 t'],
  [100_000n, '0.1 t'],
  [0n, '0 t'],
])('%d millionths of a tonne are shown as %s', (micro, text) => {
  expect(formatTonnes(micro)).toBe(text);
});

test.each([
  [1, '1 row'],
  [0, '0 rows'],
  [1_200, '1,200 rows'],
])('a count of %d is shown as %s', (count, text) => {
  expect(formatCount(count, 'row')).toBe(text);
});
