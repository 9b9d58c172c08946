/** Sums of amounts, exact to the millionth of a tonne. */
import { sql, type Expression, type SqlBool } from 'kysely';
import type { Reader } from '../store/contract/reader.js';
import { queryBuilder } from '../store/sql/builder.js';
import { buildOrganizationCondition } from './read-one.js';

/** The sum of whole tonnes and the sum of the millionths beyond them. Apart, neither of them overflows. */
const AMOUNT_SUMS = [
  sql<number | bigint | null>`sum(amount_micro / 1000000)`.as('tonnes'),
  sql<number | bigint | null>`sum(amount_micro % 1000000)`.as('rest'),
] as const;

/** Columns that add up rows: their amounts, how many rows there are, and how many have no usable amount. */
export const TOTAL_COLUMNS = [
  ...AMOUNT_SUMS,
  sql<number>`count(*)`.as('rows'),
  sql<number>`count(*) - count(amount_micro)`.as('rows_without_amount'),
] as const;

interface AmountSums {
  readonly tonnes: number | bigint | null;
  readonly rest: number | bigint | null;
}

/** A row of `TOTAL_COLUMNS`. */
export interface Total extends AmountSums {
  readonly rows: number;
  readonly rows_without_amount: number;
}

/** Replaces the two sums of a row by one exact sum in millionths of a tonne. Returns 0 for no rows. */
export function toExactSum<Row extends AmountSums>({ tonnes, rest, ...others }: Row) {
  return { ...others, amount_micro: BigInt(tonnes ?? 0) * 1_000_000n + BigInt(rest ?? 0) };
}

type GroupColumn = 'organization_id' | 'project_id' | 'project_name' | 'vintage' | 'type';

export const BY_OWNER: readonly GroupColumn[] = ['organization_id', 'type'];
export const BY_PROJECT: readonly GroupColumn[] = ['project_id', 'project_name', 'vintage', 'type'];

/**
 * Selects the ids of the organizations whose warehouse is fresh, or of those whose warehouse is not fresh; `are` chooses between the two.
 * If `organizationId` is null, selects among all organizations.
 */
export function selectOwnersByFreshness(are: 'fresh' | 'not fresh', organizationId: string | null = null) {
  return queryBuilder
    .selectFrom('mirror.freshness')
    .select('organization_id')
    .where('resource', '=', 'warehouse')
    .where('state', are === 'fresh' ? '=' : '<>', 'fresh')
    .where(buildOrganizationCondition(organizationId));
}

/**
 * Selects the ids of organizations whose warehouse the mirror tracks, without the excluded ones. A null id selects among all
 * organizations.
 */
export function selectOwnersExcept(excluded: readonly string[], organizationId: string | null = null) {
  const owners = queryBuilder
    .selectFrom('mirror.resource_states')
    .select('organization_id')
    .where('resource', '=', 'warehouse')
    .where(buildOrganizationCondition(organizationId));
  return excluded.length === 0 ? owners : owners.where('organization_id', 'not in', excluded);
}

type Owners =
  | readonly string[]
  | ReturnType<typeof selectOwnersByFreshness>
  | ReturnType<typeof selectOwnersExcept>;

/** A sum of credits. It has only the columns by which the credits are grouped. */
export type CreditSum = Awaited<ReturnType<typeof sumWarehouses>>[number];

/** Adds up the credits in the warehouses of some organizations, grouped by columns. `where` restricts the credits. */
export async function sumWarehouses(
  { all }: Reader,
  owners: Owners,
  by: readonly GroupColumn[],
  where: Expression<SqlBool> = sql`1 = 1`,
) {
  const credits = queryBuilder.selectFrom('mirror.warehouse_credits').where('organization_id', 'in', owners);
  const sums = await all(
    by
      .reduce((query, column) => query.orderBy(column, order => order.asc().nullsFirst()), credits)
      .where(where)
      .select(by)
      .select(TOTAL_COLUMNS)
      .groupBy(by),
  );
  return sums.map(toExactSum);
}

interface OwnedRow {
  readonly organization_id: string | null;
}

/** Groups rows by their organization. Returns a function that finds the rows of an organization. */
export function groupByOwner<Row extends OwnedRow>(
  rows: readonly Row[],
): (owner: OwnedRow) => readonly Row[] {
  const groups = new Map<string | null, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.organization_id);
    if (group === undefined) groups.set(row.organization_id, [row]);
    else group.push(row);
  }
  return ({ organization_id: id }) => groups.get(id) ?? [];
}

/** Returns the ids of the organizations that own the rows. Leaves out rows whose organization is unknown. */
export function organizationIdsOf(rows: readonly OwnedRow[]): string[] {
  return rows.flatMap(({ organization_id: id }) => id ?? []);
}
