import type { Value } from '../dialect.js';

type Cells = Record<string, Value>;

/** Converts each bigint of a row to a number if the number is exact. Changes the row in place and returns it. */
export function toSafeNumbers<Row extends Cells>(row: Row): Row {
  const cells: Cells = row;
  for (const name in cells) {
    const cell = cells[name];
    if (typeof cell !== 'bigint') continue;
    const number = Number(cell);
    if (Number.isSafeInteger(number)) cells[name] = number;
  }
  return row;
}
