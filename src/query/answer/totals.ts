import type { Totals } from './answer.js';
import type { Caveat } from './caveat.js';

/** A sum of some rows of one credit type. */
interface TypedSum {
  readonly type: string | null;
  readonly amount_micro: bigint;
  readonly rows: number;
  readonly rows_without_amount: number;
}

/** Combines sums of rows into the totals of an answer, with one amount for each credit type. */
export function totalsOfSums(sums: readonly TypedSum[]): Totals {
  const amounts = new Map<string | null, bigint>();
  for (const { type, amount_micro: micro } of sums) amounts.set(type, (amounts.get(type) ?? 0n) + micro);
  return {
    rows: sums.reduce((count, { rows }) => count + rows, 0),
    hasMore: false,
    amounts: [...amounts].map(([type, amountMicro]) => ({ type, amountMicro })),
    rowsWithoutAmount: sums.reduce((count, sum) => count + sum.rows_without_amount, 0),
  };
}

/**
 * Returns the caveat that some rows have no usable amount and are in no total. Returns none if there are no such rows, or no
 * amounts.
 */
export function findAmountCaveats({ amounts, rowsWithoutAmount: rows }: Totals): Caveat[] {
  return amounts === null || rows === 0 ? [] : [{ code: 'without_amount', rows }];
}
