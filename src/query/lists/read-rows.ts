/** Reads rows of a list: a page with totals, all rows as a stream, or one row. */
import { type Expression, type RawBuilder, sql, type SqlBool } from 'kysely';
import { STREAM_CHUNK_ROWS, type Reader } from '../../store/contract/reader.js';
import { select, SelectList, sqlStatement } from '../../store/sql/columns.js';
import { isNullable, type Row, type Value } from '../../store/contract/tables.js';
import { OWNER_NAME_COLUMN, type SortOrder } from '../../resources/entry.js';
import type { Totals } from '../answer/answer.js';
import { buildValidAtCondition } from '../read-one.js';
import type { Condition } from './condition.js';
import type { ListSelection, List } from './list-type.js';
import { matchingRows, OWNER } from './matching-rows.js';
import {
  amountOf,
  MAX_COUNTED,
  readTotals,
  TOTAL,
  TOTAL_COLUMN_NAMES,
  type TotalRow,
  toTotals,
} from './totals.js';

interface ListPageRequest extends ListSelection {
  /** The sort values of the last row of the previous page; null for the first page. */
  readonly after: readonly Value[] | null;
  readonly limit: number;
}

export interface ListPageRows {
  readonly rows: readonly Row[];
  /** The sort values with which the next page starts; null on the last page. */
  readonly next: readonly Value[] | null;
  /** The totals of all pages. */
  readonly totals: Totals;
  /** The SQL query of the rows, with all values filled in, so that a user can run it. */
  readonly sql: string;
}

/** Reads one page of a list, with the totals of all pages. */
export async function readPage(reader: Reader, request: ListPageRequest): Promise<ListPageRows> {
  const { list, limit } = request;
  const { rows: foundRows, totals } = await (isSortedByIndex(request) ? readByIndex : readSorted)(
    reader,
    request,
  );
  const rows = foundRows.slice(0, limit);
  const last = foundRows.length > limit ? rows.at(-1) : undefined;
  return {
    rows: list.refine === null ? rows : await list.refine(reader, rows, request.at),
    next: last === undefined ? null : list.order.map(([column]) => last[column] ?? null),
    totals,
    sql: showSql(reader, request, limit),
  };
}

/** Returns the SQL query of the first rows, with all values filled in, so that a user can run it. */
export function showSql(reader: Reader, request: ListSelection, limit: number | null): string {
  return reader.formatQuery(selectAll(request, listReadColumns(request.list), limit));
}

interface PageAndTotals {
  /** The rows of the page. If there is a next page, its first row is the last one here. */
  readonly rows: readonly Row[];
  readonly totals: Totals;
}

/** Reads a page along an index that has the order of the list, beginning after the previous page. */
async function readByIndex(reader: Reader, request: ListPageRequest): Promise<PageAndTotals> {
  const hasNoNullSortValues = await isOrderWithoutNulls(reader, request);
  const rows = await reader.all(selectPage(request, selectRows(request), hasNoNullSortValues));
  return { rows, totals: await readTotals(reader, request, MAX_COUNTED) };
}

/**
 * Reads a page by sorting, and counts the rows in the same query. That query sees at most `MAX_COUNTED` rows: if there are more,
 * the page is read again from all rows.
 */
async function readSorted(reader: Reader, request: ListPageRequest): Promise<PageAndTotals> {
  const { list } = request;
  const counted = sql`WITH matching AS (${selectRows(request, true)} LIMIT ${MAX_COUNTED + 1})`;
  const rowsWithTotal = sql`${counted} SELECT matching.*, total.*
    FROM matching, (SELECT ${TOTAL} FROM matching) AS total WHERE 1 = 1`;
  const rows = await reader.all(selectPage(request, rowsWithTotal, false, TOTAL_COLUMNS));
  const [first] = rows;
  const totals =
    first === undefined || list.amounts === 'by type'
      ? await readTotals(reader, request, MAX_COUNTED)
      : toTotals(list, [{ ...first, type: null }], MAX_COUNTED);
  if (!totals.hasMore) return { rows, totals };
  return { rows: await reader.all(selectPage(request, selectRows(request), false)), totals };
}

/** The columns of a total, as columns of another query. */
const TOTAL_COLUMNS = new SelectList<TotalRow>(sql.join(TOTAL_COLUMN_NAMES.map(column => sql.ref(column))));

/**
 * Builds the SQL query of one page of a list and one row more, which shows that there is a next page. `rows` selects the rows of the list
 * and must end in a WHERE condition, because `AND` is appended to it. `hasNoNullSortValues` says that no sort column of these rows is null.
 * `extraColumns` are further columns of `rows`; null for none. Columns of other tables, such as names, are read for the rows of the page
 * only.
 */
function selectPage<Extra extends object = object>(
  request: ListPageRequest,
  rows: RawBuilder<unknown>,
  hasNoNullSortValues: boolean,
  extraColumns: SelectList<Extra> | null = null,
): RawBuilder<Row & Extra> {
  const order = buildOrder(request.list, hasNoNullSortValues);
  const page = sql`${rows} AND ${buildPageCondition(request, hasNoNullSortValues)} ORDER BY ${order} LIMIT ${request.limit + 1}`;
  const columns = selectWithOwner(request, listReadColumns(request.list));
  const all = new SelectList<Row & Extra>(
    extraColumns === null ? sql`${columns}` : sql`${columns}, ${extraColumns}`,
  );
  return sqlStatement`SELECT ${all} FROM (${page}) AS listed
    ORDER BY ${order}`;
}

/** Streams all rows, or the first `limit` rows. */
export async function* streamRows(
  reader: Reader,
  request: ListSelection,
  limit: number | null = null,
): AsyncGenerator<Row> {
  const { at } = request;
  const { refine, reads } = request.list;
  const selectRowsOf = isSortedByIndex(request) ? selectAll : selectAllSorted;
  const rows = reader.stream(selectRowsOf(request, reads, limit));
  if (refine === null) yield* rows;
  else for await (const group of chunkRows(rows)) yield* await refine(reader, group, at);
}

/** Collects streamed rows into groups of at most `STREAM_CHUNK_ROWS`. The last group may be empty. */
export async function* chunkRows(rows: AsyncIterable<Row>): AsyncGenerator<Row[]> {
  let group: Row[] = [];
  for await (const row of rows) {
    if (group.push(row) < STREAM_CHUNK_ROWS) continue;
    yield group;
    group = [];
  }
  yield group;
}

/** Reads a row by its number, such as the id of a job. Null if no row has it, or if `id` is not a number. */
export async function readNumbered(reader: Reader, list: List, id: number | string): Promise<Row | null> {
  if (!/^\d{1,15}$/.test(String(id))) return null;
  const [row = null] = await readAll(reader, list, [{ column: list.idColumn, is: Number(id) }], 1);
  return row;
}

/** Reads all current rows that meet the conditions, or the first `limit` of them. */
export async function readAll(
  reader: Reader,
  list: List,
  where: readonly Condition[],
  limit: number | null,
): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const row of streamRows(reader, { list, where, at: null }, limit)) rows.push(row);
  return rows;
}

/** Whether any row matches. */
export async function hasRows(reader: Reader, request: ListSelection): Promise<boolean> {
  const row = sqlStatement`SELECT ${select({ one: sql<number>`1` })} FROM ${matchingRows(request)} LIMIT 1`;
  return (await reader.all(row)).length > 0;
}

/**
 * Returns true if all sort columns have a value (are not null) in all matching rows. The query can then use an index to jump to the start
 * of a page.
 */
async function isOrderWithoutNulls(reader: Reader, request: ListPageRequest): Promise<boolean> {
  const { list, after } = request;
  if (after?.includes(null) === true) return false;
  for (const [column] of list.order) {
    if (!isNullable(list.from, column)) continue;
    const nulls = sqlStatement`SELECT ${select({ one: sql<number>`1` })}
      FROM ${matchingRows(request, true)} AND ${sql.ref(column)} IS NULL LIMIT 1`;
    if ((await reader.all(nulls)).length > 0) return false;
  }
  return true;
}

/** Sort columns by which the table itself is ordered. */
const NUMBERS = ['version', 'id', 'minute'];

/**
 * Returns true if an index returns the matching rows in the order of the list, so that the database need not sort them. This is always so
 * if the list is sorted by a number such as the id. For other lists, returns false if there is a condition besides the organization: the
 * database is then faster if it finds the matching rows first and sorts them.
 */
function isSortedByIndex({ list, where, at }: ListSelection): boolean {
  if (NUMBERS.includes(list.order[0]?.[0] ?? '')) return true;
  // Older versions are in the order of no list.
  return list.isIndexed && at === null && where.every(({ column }) => column === OWNER);
}

/** Builds the query of all matching rows in the order of the list, or of the first `limit` rows. */
function selectAll(
  request: ListSelection,
  columns: readonly string[],
  limit: number | null,
): RawBuilder<Row> {
  const selected = selectWithOwner(request, columns);
  const order = buildOrder(request.list, false);
  return sqlStatement`SELECT ${selected} FROM ${matchingRows(request)} ORDER BY ${order}${buildLimit(limit)}`;
}

/** Builds the query of the same rows as `selectAll`, but lets the database find all of them before it sorts any. */
function selectAllSorted(
  request: ListSelection,
  columns: readonly string[],
  limit: number | null,
): RawBuilder<Row> {
  return sqlStatement`WITH listed AS MATERIALIZED (${selectRows(request)})
    SELECT ${selectWithOwner(request, columns)} FROM listed ORDER BY ${buildOrder(request.list, false)}${buildLimit(limit)}`;
}

/** Returns the LIMIT clause of a query; empty for all rows. */
function buildLimit(limit: number | null): RawBuilder<unknown> {
  return limit === null ? sql`` : sql` LIMIT ${limit}`;
}

/** Lists the columns that a page reads, including the sort columns. */
function listReadColumns({ reads, order }: List): string[] {
  return [...new Set([...reads, ...order.map(([name]) => name)])];
}

/** Returns the column through which the organization of a row is known. */
function ownerColumnOf({ from }: List): string {
  return from === 'inbox.deliveries' ? 'installation_id' : OWNER;
}

/**
 * Builds the query of the matching rows, with the columns of the list's own table. `withAmount` adds the amount that totals
 * need.
 */
function selectRows({ list, ...request }: ListSelection, withAmount = false): RawBuilder<unknown> {
  const names = listReadColumns(list).map(name => (name === OWNER_NAME_COLUMN ? ownerColumnOf(list) : name));
  const columns = [...new Set(names)]
    .filter(name => !withAmount || name !== 'amount_micro')
    .map(name => sql.ref(name));
  const amount = withAmount ? [amountOf(list)] : [];
  return sql`SELECT ${sql.join([...columns, ...amount])} FROM ${matchingRows({ list, ...request })}`;
}

/**
 * Selects columns of the subquery `listed`, which has the rows. If the name of the organization is selected, it is read from the table of
 * organizations, as of the instant of the rows.
 */
function selectWithOwner({ list, at }: ListSelection, columns: readonly string[]): SelectList<Row> {
  const name = sql`(SELECT owner.full_name FROM ${buildOwnerFrom(list, at)}) AS organization_name`;
  return new SelectList(
    sql.join(columns.map(column => (column === OWNER_NAME_COLUMN ? name : sql.ref(column)))),
  );
}

/**
 * Returns the SQL that follows FROM in a subquery for the organization of a row. The row comes from a query with the alias `listed`. The
 * subquery finds the organization with its name at the instant `at`, or with its current name if `at` is null.
 */
export function buildOwnerFrom(list: List, at: string | null): RawBuilder<unknown> {
  if (ownerColumnOf(list) !== OWNER)
    return sql`${sql.table('mirror.installations')} AS installed JOIN ${sql.table('mirror.organizations')} AS owner
      ON owner.id = installed.organization_id WHERE installed.id = listed.installation_id`;
  return at === null
    ? sql`${sql.table('mirror.organizations')} AS owner WHERE owner.id = listed.organization_id`
    : sql`${sql.table('mirror.organizations_history')} AS owner
      WHERE ${buildValidAtCondition(at, 'owner')} AND owner.id = listed.organization_id`;
}

const NULLS = { asc: sql` NULLS FIRST`, desc: sql` NULLS LAST` };
const DIRECTIONS = { asc: sql`ASC`, desc: sql`DESC` };

/**
 * Returns the ORDER BY terms of a list, in which null is the lowest value. If `hasNoNullSortValues` is true, omits NULLS FIRST and
 * NULLS LAST, so that an index can be used.
 */
function buildOrder({ from, order }: List, hasNoNullSortValues: boolean): RawBuilder<unknown> {
  const terms = order.map(([column, direction]) => {
    const nulls = isNullable(from, column) && !hasNoNullSortValues ? NULLS[direction] : sql``;
    return sql`${sql.ref(column)} ${DIRECTIONS[direction]}${nulls}`;
  });
  return sql.join(terms);
}

/**
 * Returns the SQL condition that a row comes after the previous page. If no sort column has nulls, the condition has a form for which the
 * database can use an index.
 */
function buildPageCondition(
  { list: { order }, after }: ListPageRequest,
  hasNoNullSortValues: boolean,
): Expression<SqlBool> {
  if (after === null) return sql`1 = 1`;
  if (!hasNoNullSortValues) return buildLaterCondition(order, after);
  const columns = sql.join(order.map(([column]) => sql.ref(column)));
  const sign = order[0]?.[1] === 'desc' ? sql`<` : sql`>`;
  return sql`(${columns}) ${sign} (${sql.join(after.map(value => sql`${value}`))})`;
}

/**
 * Returns the SQL condition that a row comes after the sort values `after` in the order of the list. Null is the lowest value of each
 * column.
 */
function buildLaterCondition(order: SortOrder, after: readonly Value[]): Expression<SqlBool> {
  const [[name, direction] = ['', 'asc' as const], ...rest] = order;
  const [value = null, ...others] = after;
  const column = sql.ref(name);
  const isSame = value === null ? sql`${column} IS NULL` : sql`${column} = ${value}`;
  const ties = rest.length === 0 ? [] : [sql`(${isSame} AND ${buildLaterCondition(rest, others)})`];
  return sql`(${sql.join([...listLaterValueConditions(column, direction, value), ...ties], sql` OR `)})`;
}

/**
 * Returns SQL conditions for the values of a column that come after `value` in its sort direction. A row comes later if one of the
 * conditions is true. Returns an empty array if no value comes after `value`.
 */
function listLaterValueConditions(
  column: RawBuilder<unknown>,
  direction: 'asc' | 'desc',
  value: Value,
): RawBuilder<unknown>[] {
  if (direction === 'asc') return [value === null ? sql`${column} IS NOT NULL` : sql`${column} > ${value}`];
  return value === null ? [] : [sql`${column} < ${value}`, sql`${column} IS NULL`];
}
