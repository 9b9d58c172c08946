/** Small queries that many answers need: one row, a count, and rows of a past instant. */
import { type Expression, type RawBuilder, sql, type SqlBool } from 'kysely';
import type { Query, Reader } from '../store/contract/reader.js';

interface LimitableQuery<Row> {
  readonly limit: (count: number) => Query<Row>;
}

/** Returns the first row of a query. Null if it has no rows. */
export async function readFirst<Row>(reader: Reader, query: LimitableQuery<Row>): Promise<Row | null> {
  const [row = null] = await reader.all(query.limit(1));
  return row;
}

/** Returns the row of a query that always has one, such as a count. */
export async function readOne<Row>(reader: Reader, query: Query<Row>): Promise<Row> {
  const [row] = await reader.all(query);
  if (row === undefined) throw new Error(`expected a row, got none: ${reader.formatQuery(query)}`);
  return row;
}

/** Counts the rows that a query returns. */
export async function countRows(reader: Reader, query: Query<unknown>): Promise<number> {
  const { count } = await readOne(
    reader,
    sql<{ count: number }>`SELECT count(*) AS count FROM (${query}) AS counted`,
  );
  return count;
}

/**
 * Returns the SQL condition that a version of a row was valid at an instant. If `instant` is null, the condition is true for every row: use
 * it for tables without older versions. `alias` names the table if the query has several.
 */
export function buildValidAtCondition(instant: string | null, alias?: string): Expression<SqlBool> {
  if (instant === null) return sql`1 = 1`;
  const prefix = alias === undefined ? '' : `${alias}.`;
  const validFrom = sql.ref(`${prefix}valid_from`);
  const validTo = sql.ref(`${prefix}valid_to`);
  return sql`(${validFrom} <= ${instant} AND (${validTo} IS NULL OR ${validTo} > ${instant}))`;
}

/** Returns the SQL condition that a row belongs to one organization. Null selects the rows of all organizations. */
export function buildOrganizationCondition(
  organizationId: string | null,
  column = 'organization_id',
): Expression<SqlBool> {
  return organizationId === null ? sql`1 = 1` : sql`${sql.ref(column)} = ${organizationId}`;
}

/** Limits an `sql` statement to its first rows. */
export function limitRows<Row>(statement: RawBuilder<Row>, limit: number): RawBuilder<Row> {
  return sql`${statement} LIMIT ${limit}`;
}
