import type { Value } from '../contract/tables.js';

/** Converts each bigint of a row to a number if the number is exact. Changes the row in place and returns it. */
export function toSafeNumbers<Row extends Record<string, Value>>(row: Row): Row {
  const cells: Record<string, Value> = row;
  for (const name in cells) {
    const cell = cells[name];
    if (typeof cell !== 'bigint') continue;
    const number = Number(cell);
    if (Number.isSafeInteger(number)) cells[name] = number;
  }
  return row;
}
