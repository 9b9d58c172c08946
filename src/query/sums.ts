import type { Reader, Statement } from '../store/contract/reader.js';
import type { Tables } from '../store/contract/tables.js';
import { ofOne, plain, sql, stoodAt } from './sql.js';

/** What rows add up to: whole tonnes and the millionths beyond, each by itself, so that no sum of them overflows. */
const ADDED = plain('sum(amount_micro / 1000000) AS tonnes, sum(amount_micro % 1000000) AS rest');

export type Added = Readonly<Record<'tonnes' | 'rest', number | bigint | null>>;

/** The same, of how many rows, and how many are in no sum. */
export const TOTAL = sql`${ADDED}, count(*) AS rows, count(*) - count(amount_micro) AS rows_without_amount`;

export interface Total extends Added {
  readonly rows: number;
  readonly rows_without_amount: number;
}

/** To the last millionth; of no rows, nothing. */
export function exact<Row extends Added>({ tonnes, rest, ...sum }: Row) {
  return { ...sum, amount_micro: BigInt(tonnes ?? 0) * 1_000_000n + BigInt(rest ?? 0) };
}

type Column = 'organization_id' | 'project_id' | 'project_name' | 'vintage' | 'type';
type Sum = Pick<Tables['warehouse_sums'], Column> & Total;

const ALL = plain('1 = 1');
export const BY_OWNER: readonly Column[] = ['organization_id', 'type'];
export const BY_PROJECT: readonly Column[] = ['project_id', 'project_name', 'vintage', 'type'];

/** Organizations whose warehouse is fresh, or is not; one, or all of them. */
export function ownersBy(is: '=' | '<>', organizationId: string | null = null): Statement {
  return sql`(SELECT organization_id FROM mirror.freshness
    WHERE resource = 'warehouse' AND state ${plain(is)} 'fresh' AND ${ofOne(organizationId)})`;
}

/** What stands in the warehouses of some organizations, or a part of it, added up by some columns. */
export async function sumWarehouses(reader: Reader, owners: Statement, by: readonly Column[], part = ALL) {
  return await sumBy(
    reader,
    by,
    sql`mirror.warehouse_credits WHERE organization_id IN ${owners} AND ${part}`,
  );
}

/** What stood in all of them at an instant, added up by organization and project. */
export async function sumStoodAt(reader: Reader, at: string) {
  const stood = sql`mirror.warehouse_credits_history WHERE ${stoodAt(at)}`;
  return await sumBy(reader, ['organization_id', ...BY_PROJECT], stood);
}

/** How much rows add up to, and how many are in no sum. */
async function sumBy({ all }: Reader, by: readonly Column[], from: Statement) {
  const names = plain(by.join(', '));
  const order = plain(by.map(name => `${name} NULLS FIRST`).join(', '));
  const sums = await all(sql<Sum>`SELECT ${names}, ${TOTAL}
    FROM ${from} GROUP BY ${names} ORDER BY ${order}`);
  return sums.map(exact);
}

export interface Owned {
  readonly organization_id: string | null;
}

/** What is of the same owner. */
export function byOwner<Row extends Owned>(rows: readonly Row[]): (owner: Owned) => readonly Row[] {
  const owned = new Map<string | null, Row[]>();
  for (const row of rows) {
    const known = owned.get(row.organization_id);
    if (known === undefined) owned.set(row.organization_id, [row]);
    else known.push(row);
  }
  return ({ organization_id: id }) => owned.get(id) ?? [];
}

export function idsOf(owners: readonly Owned[]): string[] {
  return owners.flatMap(({ organization_id: id }) => id ?? []);
}
