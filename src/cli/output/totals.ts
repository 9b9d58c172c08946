import { formatSumsByType } from '../../text/tonnes.js';
import { formatCount } from '../../text/numbers.js';
import type { OutputRow } from './table.js';

/** The tonnes and number of summed rows, and how many rows had no usable amount. */
export type RowTotal = ReturnType<typeof sumRows>;

/**
 * Creates a running total of rows with `amount_micro`. A row that stands for several has their number in `rows`
 * and `rows_without_amount`.
 */
export function createRunningTotal() {
  const sums = new Map<unknown, { readonly type?: unknown; amount_micro: bigint }>();
  let rowCount = 0;
  let rowsWithoutAmount = 0;

  function addRow(row: OutputRow): void {
    const { amount_micro: amount, rows_without_amount: withoutAmount, rows = 1, type } = row;
    const hasAmount = typeof amount === 'number' || typeof amount === 'bigint';
    const sum = sums.get(type) ?? { ...('type' in row ? { type } : {}), amount_micro: 0n };
    sums.set(type, sum);
    if (hasAmount) sum.amount_micro += BigInt(amount);
    rowCount += Number(rows);
    rowsWithoutAmount += Number(withoutAmount ?? (hasAmount ? 0 : 1));
  }

  /** Yields the rows unchanged and adds each to the total. */
  async function* addEachRow(rows: AsyncIterable<OutputRow>) {
    for await (const row of rows) {
      addRow(row);
      yield row;
    }
  }

  /** Returns the total so far. Its tonnes are exact, by credit type, as text with the unit. */
  function getTotal() {
    return { tonnes: formatSumsByType(sums.values()), rowCount, rowsWithoutAmount };
  }

  return { addRow, addEachRow, getTotal };
}

/** Sums rows with `amount_micro`. */
export function sumRows(rows: readonly OutputRow[]) {
  const { addRow, getTotal } = createRunningTotal();
  for (const row of rows) addRow(row);
  return getTotal();
}

/** Describes a total, such as `12.5 t in 3 rows, excluding 1 without a usable amount`. */
export function describeTotal({ tonnes, rowCount, rowsWithoutAmount }: RowTotal): string {
  const excluded = rowsWithoutAmount === 0 ? '' : `, excluding ${rowsWithoutAmount} without a usable amount`;
  return `${tonnes} in ${formatCount(rowCount, 'row')}${excluded}`;
}
