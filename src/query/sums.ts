import type { ExpressionBuilder, ReferenceExpression } from 'kysely';
import type { Reader } from '../store/contract/reader.js';

/** Whole tonnes and the millionths beyond are added each by itself: no sum of them overflows. */
const MICRO = 1_000_000;

/** What rows add up to, to the last millionth; of none, nothing. */
export function added<DB, TB extends keyof DB>(
  eb: ExpressionBuilder<DB, TB>,
  micro: ReferenceExpression<DB, TB>,
) {
  return [
    eb.fn.sum<number | bigint | null>(eb(micro, '/', eb.lit(MICRO))).as('tonnes'),
    eb.fn.sum<number | bigint | null>(eb(micro, '%', eb.lit(MICRO))).as('rest'),
  ] as const;
}

type Added = Readonly<Record<'tonnes' | 'rest', number | bigint | null>>;

export function exact<Row extends Added>({ tonnes, rest, ...sum }: Row) {
  return { ...sum, amount_micro: BigInt(tonnes ?? 0) * BigInt(MICRO) + BigInt(rest ?? 0) };
}

export type Column = 'organization_id' | 'project_id' | 'project_name' | 'vintage' | 'type';

export const BY_OWNER: readonly Column[] = ['organization_id', 'type'];
export const BY_PROJECT: readonly Column[] = ['project_id', 'project_name', 'vintage', 'type'];

/** What stands in the warehouses of some organizations, added up by some columns. */
export async function sumWarehouses({ db, say }: Reader, owners: readonly string[], by: readonly Column[]) {
  const rows = db.selectFrom('warehouse_credits').where('organization_id', 'in', say.texts(owners));
  const all = rows.groupBy(by).select(by).select(summed);
  const ordered = by.reduce((sums, column) => sums.orderBy(column, each => each.asc().nullsFirst()), all);
  return (await ordered.execute()).map(exact);
}

/** How much rows add up to, and how many are in no sum. */
export function summed<DB extends Record<TB, { amount_micro: unknown }>, TB extends keyof DB & string>(
  eb: ExpressionBuilder<DB, TB>,
) {
  const micro = eb.ref('amount_micro');
  const without = eb(eb.fn.countAll<number>(), '-', eb.fn.count<number>(micro));
  return [...added(eb, micro), without.as('rows_without_amount')] as const;
}
