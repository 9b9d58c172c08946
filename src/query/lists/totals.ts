/** Counts the rows of a list and adds up their amounts. */
import { type RawBuilder, sql } from 'kysely';
import type { Reader } from '../../store/contract/reader.js';
import { select, sqlStatement } from '../../store/sql/columns.js';
import type { Totals, TypeAmount } from '../answer/answer.js';
import { toExactSum } from '../sums.js';
import type { List, ListSelection } from './list-type.js';
import { matchingRows } from './matching-rows.js';

/** Pages count at most this many rows. */
export const MAX_COUNTED = 10_000;

/** Sums of rows: whole tonnes and the remaining millionths apart, so that no sum overflows. */
const TOTAL_CELLS = {
  tonnes: sql<number | bigint | null>`sum(amount_micro / 1000000)`,
  rest: sql<number | bigint | null>`sum(amount_micro % 1000000)`,
  rows: sql<number>`count(*)`,
  rows_without_amount: sql<number>`count(*) - count(amount_micro)`,
};
export const TOTAL = select(TOTAL_CELLS);
export type TotalRow = NonNullable<typeof TOTAL.row>;
export const TOTAL_COLUMN_NAMES = Object.keys(TOTAL_CELLS);

/** Selects the amount of a row as `amount_micro`. It is NULL in a list without amounts. */
export function amountOf({ amounts }: List): RawBuilder<unknown> {
  return amounts === 'none' ? sql`CAST(NULL AS integer) AS amount_micro` : sql`amount_micro`;
}

/**
 * Counts matching rows, at most `limit` or all if it is null, and adds up their amounts. If there are more rows, amounts are not
 * added up.
 */
export async function readTotals(
  reader: Reader,
  request: ListSelection,
  limit: number | null,
): Promise<Totals> {
  const { list } = request;
  const isByType = list.amounts === 'by type';
  const type = isByType ? sql<string | null>`type` : sql<string | null>`NULL`;
  const bound = limit === null ? sql`` : sql` LIMIT ${limit + 1}`;
  const columns = isByType ? sql`type, amount_micro` : amountOf(list);
  const counted = sql`SELECT ${columns} FROM ${matchingRows(request)}${bound}`;
  const grouped = isByType ? sql` GROUP BY type ORDER BY type NULLS FIRST` : sql``;
  const rows = await reader.all(
    sqlStatement`SELECT ${select({ type, ...TOTAL_CELLS })} FROM (${counted}) AS counted${grouped}`,
  );
  return toTotals(list, rows, limit);
}

/** Combines sums by credit type into totals. If there are more rows than `limit`, amounts are left out. */
export function toTotals(
  { amounts }: List,
  sums: readonly (TotalRow & { readonly type: string | null })[],
  limit: number | null,
): Totals {
  const rows = sums.reduce((count, sum) => count + sum.rows, 0);
  const hasMore = limit !== null && rows > limit;
  const isSummed = amounts !== 'none' && !hasMore;
  return {
    rows: hasMore ? limit : rows,
    hasMore,
    amounts: isSummed ? sums.filter(sum => sum.rows > 0).map(toTypeAmount) : null,
    rowsWithoutAmount: isSummed ? sums.reduce((count, sum) => count + sum.rows_without_amount, 0) : 0,
  };
}

function toTypeAmount(sum: TotalRow & { readonly type: string | null }): TypeAmount {
  return { type: sum.type, amountMicro: toExactSum(sum).amount_micro };
}
