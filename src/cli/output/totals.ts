import { formatSumByType } from '../../text/tonnes.js';
import { formatCount } from '../../text/numbers.js';
import type { Row } from './table.js';

export type Total = ReturnType<typeof totalOf>;

/** Of rows with `amount_micro`, and `rows` and `rows_without_amount` where a row stands for several. */
export function createTally() {
  const sums = new Map<unknown, { readonly type?: unknown; amount_micro: bigint }>();
  let rows = 0;
  let notSummed = 0;
  const add = (row: Row) => {
    const { amount_micro: amount, rows_without_amount: left, rows: many = 1, type } = row;
    const isSummed = typeof amount === 'number' || typeof amount === 'bigint';
    const sum = sums.get(type) ?? { ...('type' in row ? { type } : {}), amount_micro: 0n };
    sums.set(type, sum);
    if (isSummed) sum.amount_micro += BigInt(amount);
    rows += Number(many);
    notSummed += Number(left ?? (isSummed ? 0 : 1));
  };
  /** The same rows, counted as they pass. */
  async function* count(listed: AsyncIterable<Row>) {
    for await (const row of listed) {
      add(row);
      yield row;
    }
  }
  /** With its unit, to the last digit that could be summed, each type for itself. */
  const total = () => ({ tonnes: formatSumByType(sums.values()), rows, notSummed });
  return { add, count, total };
}

export function totalOf(rows: readonly Row[]) {
  const tally = createTally();
  for (const row of rows) tally.add(row);
  return tally.total();
}

export function describeTotal({ tonnes, rows, notSummed }: Total): string {
  const left = notSummed === 0 ? '' : `, without ${notSummed} whose amount cannot be summed`;
  return `${tonnes} in ${formatCount(rows, 'row')}${left}`;
}
