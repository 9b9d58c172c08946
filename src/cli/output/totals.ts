import { formatSumsByType } from '../../text/tonnes.js';
import { formatCount } from '../../text/numbers.js';
import type { OutputRow } from './table.js';

export type RowTotal = ReturnType<typeof sumRows>;

/**
 * Creates a running total of rows with `amount_micro`. A row that stands for several has their number in `rows`
 * and `rows_without_amount`.
 */
export function createRunningTotal() {
  const sums = new Map<unknown, { readonly type?: unknown; amount_micro: bigint }>();
  let rows = 0;
  let notSummed = 0;
  const add = (row: OutputRow) => {
    const { amount_micro: amount, rows_without_amount: withoutAmount, rows: rowCount = 1, type } = row;
    const isSummed = typeof amount === 'number' || typeof amount === 'bigint';
    const sum = sums.get(type) ?? { ...('type' in row ? { type } : {}), amount_micro: 0n };
    sums.set(type, sum);
    if (isSummed) sum.amount_micro += BigInt(amount);
    rows += Number(rowCount);
    notSummed += Number(withoutAmount ?? (isSummed ? 0 : 1));
  };
  /** Yields the same rows, adding each to the total. */
  async function* addPassing(listed: AsyncIterable<OutputRow>) {
    for await (const row of listed) {
      add(row);
      yield row;
    }
  }
  /** Returns the exact tonnes by credit type, as text with its unit. */
  const total = () => ({ tonnes: formatSumsByType(sums.values()), rows, notSummed });
  return { add, addPassing, total };
}

export function sumRows(rows: readonly OutputRow[]) {
  const tally = createRunningTotal();
  for (const row of rows) tally.add(row);
  return tally.total();
}

export function describeTotal({ tonnes, rows, notSummed }: RowTotal): string {
  const excluded = notSummed === 0 ? '' : `, excluding ${notSummed} without a usable amount`;
  return `${tonnes} in ${formatCount(rows, 'row')}${excluded}`;
}
