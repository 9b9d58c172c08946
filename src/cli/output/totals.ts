import { formatSumsByType } from '../../text/tonnes.js';
import { formatCount } from '../../text/numbers.js';
import type { OutputRow } from './table.js';

/** The tonnes and number of summed rows, and how many rows had no usable amount. */
export type RowTotal = ReturnType<typeof sumRows>;

/** Creates an object that totals rows one by one: the number of rows, and the tonnes by credit type. */
export function createRunningTotal() {
  const sums = new Map<unknown, { readonly type?: unknown; amount_micro: bigint }>();
  let rowCount = 0;
  let rowsWithoutAmount = 0;

  /** Adds one row to the total. */
  function addRow(row: OutputRow): void {
    /** A grouped row stands for `rows` rows, of which `rows_without_amount` have no usable amount. */
    const { amount_micro: amount, rows_without_amount: withoutAmount, rows = 1, type } = row;
    const hasAmount = typeof amount === 'number' || typeof amount === 'bigint';
    const sum = sums.get(type) ?? { ...('type' in row ? { type } : {}), amount_micro: 0n };
    sums.set(type, sum);
    if (hasAmount) sum.amount_micro += BigInt(amount);
    rowCount += Number(rows);
    rowsWithoutAmount += Number(withoutAmount ?? (hasAmount ? 0 : 1));
  }

  /** Yields the rows unchanged and adds each row to the total. */
  async function* addEachRow(rows: AsyncIterable<OutputRow>) {
    for await (const row of rows) {
      addRow(row);
      yield row;
    }
  }

  /** Returns the row counts so far and the exact tonnes by credit type as text. */
  function getTotal() {
    return { tonnes: formatSumsByType(sums.values()), rowCount, rowsWithoutAmount };
  }

  return { addRow, addEachRow, getTotal };
}

/** Returns the number of rows and their total tonnes by credit type. */
export function sumRows(rows: readonly OutputRow[]) {
  const { addRow, getTotal } = createRunningTotal();
  for (const row of rows) addRow(row);
  return getTotal();
}

/** Returns a text such as `12.5 t in 3 rows, excluding 1 without a usable amount`. */
export function describeTotal({ tonnes, rowCount, rowsWithoutAmount }: RowTotal): string {
  const excluded = rowsWithoutAmount === 0 ? '' : `, excluding ${rowsWithoutAmount} without a usable amount`;
  return `${tonnes} in ${formatCount(rowCount, 'row')}${excluded}`;
}
