import { AT_ONCE, type Reader, type Statement } from '../../store/contract/reader.js';
import { hasColumn, mayBeNull, type Row, type Value } from '../../store/contract/tables.js';
import { OWNER_NAME_COLUMN, type SortOrder } from '../../resources/entry.js';
import { every, first, joined, only, plain, sql, stoodAt, table } from '../sql.js';
import { exact, type Total, TOTAL } from '../sums.js';
import { type Condition, inSql } from './filter.js';
import { isNamedBy, ofAnyOrganization } from './find.js';
import type { ListSelection, List } from './list.js';

interface AskedPage extends ListSelection {
  /** The columns of the order in the last row of the page before; null for the first page. */
  readonly after: readonly Value[] | null;
  readonly limit: number;
}

export interface ListPageRows {
  readonly rows: readonly Row[];
  /** Where the next page begins; null where there is none. */
  readonly next: readonly Value[] | null;
  /** How many rows there are in all pages, or as many as are counted. */
  readonly count: number;
  readonly isCountedToTheEnd: boolean;
  /** What they add up to, in millionths of a tonne, and how many are in no sum; null where they are too many, of several types or of no amount. */
  readonly sum: ReturnType<typeof exact<Total>> | null;
  /** What was asked, as a person may ask it again. */
  readonly sql: string;
}

const COUNT_TO = 10_000;
const OWNER = 'organization_id';

export async function readPage(reader: Reader, asked: AskedPage): Promise<ListPageRows> {
  const { list, limit } = asked;
  const { found, total } = await (isIndexed(asked) ? readAlong : readSorted)(reader, asked);
  const isCountedToTheEnd = total.rows <= COUNT_TO;
  const rows = found.slice(0, limit);
  const last = found.length > limit ? rows.at(-1) : undefined;
  return {
    rows: list.refine === null ? rows : await list.refine(reader, rows),
    next: last === undefined ? null : list.order.map(([column]) => last[column] ?? null),
    count: Math.min(total.rows, COUNT_TO),
    isCountedToTheEnd,
    sum: isCountedToTheEnd && addsUp(asked) ? exact(total) : null,
    sql: reader.shown(sql`${allOf(asked, namesOf(list))} LIMIT ${limit}`),
  };
}

interface Found {
  /** One more than a page has, where there is a next one. */
  readonly found: readonly Row[];
  readonly total: Total;
}

/** By an index, from where the page begins. */
async function readAlong(reader: Reader, asked: AskedPage): Promise<Found> {
  const found = await reader.all(pageOf(asked, rowsOf(asked), await hasAll(reader, asked)));
  return { found, total: await readTotal(reader, asked) };
}

/** All that fit are looked at once where they are few enough to be counted; of more, first so many and then all. */
async function readSorted(reader: Reader, asked: AskedPage): Promise<Found> {
  const few = sql`WITH fitting AS (${rowsOf(asked, [amountIn(asked)])} LIMIT ${COUNT_TO + 1})`;
  const some = sql`${few} SELECT fitting.*, total.* FROM fitting, (SELECT ${TOTAL} FROM fitting) AS total WHERE 1 = 1`;
  const found = await reader.all<Row & Total>(pageOf(asked, some, false, TOTALS));
  const total = found[0] ?? (await readTotal(reader, asked));
  if (total.rows <= COUNT_TO) return { found, total };
  return { found: await reader.all(pageOf(asked, rowsOf(asked), false)), total };
}

/** What stands in another table is looked up for the rows of the page, and not for all that were put in order. */
function pageOf(
  asked: AskedPage,
  rows: Statement,
  isWhole: boolean,
  more: readonly string[] = [],
): Statement<Row> {
  const order = inOrder(asked.list, isWhole);
  const paged = sql`${rows} AND ${beyond(asked, isWhole)} ORDER BY ${order} LIMIT ${asked.limit + 1}`;
  return sql`SELECT ${selected(asked, [...namesOf(asked.list), ...more])} FROM (${paged}) AS listed
    ORDER BY ${order}`;
}

/** All rows, or so many of them; as they come. */
export async function* streamRows(
  reader: Reader,
  asked: ListSelection,
  limit: number | null = null,
): AsyncGenerator<Row> {
  const { refine, reads } = asked.list;
  const all = isIndexed(asked) ? allOf(asked, reads) : sortedOf(asked, reads);
  const rows = reader.stream(limit === null ? all : sql`${all} LIMIT ${limit}`);
  if (refine === null) yield* rows;
  else for await (const some of inGroups(rows)) yield* await refine(reader, some);
}

async function* inGroups(rows: AsyncIterable<Row>): AsyncGenerator<Row[]> {
  let group: Row[] = [];
  for await (const row of rows) {
    if (group.push(row) < AT_ONCE) continue;
    yield group;
    group = [];
  }
  yield group;
}

/** The one of this number; null where there is none, and for what is no number. */
export async function readNumbered(reader: Reader, list: List, id: number | string): Promise<Row | null> {
  if (!/^\d{1,15}$/.test(String(id))) return null;
  const [row = null] = await readAll(reader, list, [{ column: list.idColumn, is: Number(id) }], 1);
  return row;
}

/** All that fit, or so many of them. */
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

/** Tells whether any row fits. */
export async function hasRows(reader: Reader, asked: ListSelection): Promise<boolean> {
  return (await first(reader, sql`SELECT 1 FROM ${fitting(asked)} LIMIT 1`)) !== null;
}

/** Whether an index can be entered where the page begins: nothing is missing in what it is ordered by. */
async function hasAll(reader: Reader, asked: AskedPage): Promise<boolean> {
  const { list, after } = asked;
  if (after?.includes(null) === true) return false;
  for (const [column] of list.order) {
    const missing = sql`SELECT 1 FROM ${fitting(asked, true)} AND ${plain(column)} IS NULL LIMIT 1`;
    if (mayBeNull(list.from, column) && (await first(reader, missing)) !== null) return false;
  }
  return true;
}

const NUMBERS = ['version', 'id', 'minute'];

/** Whether an index has in this order the rows that fit. Else each that fits is looked at: to seek them along an index takes longer. By their numbers rows stand in the table itself. */
function isIndexed({ list, where }: ListSelection): boolean {
  if (NUMBERS.includes(list.order[0]?.[0] ?? '')) return true;
  return list.isIndexed && where.every(({ column }) => column === OWNER);
}

/** What fits, in its order, wherever something is missing. */
function allOf(asked: ListSelection, names: readonly string[]): Statement<Row> {
  return sql`SELECT ${selected(asked, names)} FROM ${fitting(asked)} ORDER BY ${inOrder(asked.list, false)}`;
}

/** The same, where each row that fits is looked at before any is put in order. */
function sortedOf(asked: ListSelection, names: readonly string[]): Statement<Row> {
  return sql`WITH listed AS MATERIALIZED (${rowsOf(asked)})
    SELECT ${selected(asked, names)} FROM listed ORDER BY ${inOrder(asked.list, false)}`;
}

function namesOf({ reads, order }: List): string[] {
  return [...new Set([...reads, ...order.map(([name]) => name)])];
}

/** The column by which the organization is known whose a row is. */
function ownerIn({ from }: List): string {
  return from === 'inbox.deliveries' ? 'installation_id' : OWNER;
}

function rowsOf(asked: ListSelection, more: readonly string[] = []): Statement {
  const own = namesOf(asked.list).map(name => (name === OWNER_NAME_COLUMN ? ownerIn(asked.list) : name));
  return sql`SELECT ${plain([...new Set([...own, ...more])].join(', '))} FROM ${fitting(asked)}`;
}

/** Columns, and the name of the organization whose a row is, which no table but its own holds: as of the instant of the rows. */
function selected({ list, at }: ListSelection, names: readonly string[]): Statement {
  const name = sql`(SELECT owner.full_name FROM ${ownerOf(list, at)}) AS organization_name`;
  return joined(
    names.map(each => (each === OWNER_NAME_COLUMN ? name : plain(each))),
    ', ',
  );
}

function ownerOf(list: List, at: string | null): Statement {
  if (ownerIn(list) !== OWNER)
    return plain(`mirror.installations AS installed JOIN mirror.organizations AS owner
      ON owner.id = installed.organization_id WHERE installed.id = listed.installation_id`);
  return at === null
    ? plain('mirror.organizations AS owner WHERE owner.id = listed.organization_id')
    : sql`mirror.organizations_history AS owner WHERE ${stoodAt(at, 'owner')} AND owner.id = listed.organization_id`;
}

function fitting({ list, where, at }: ListSelection, isOfAny = isNamed(list, where)): Statement {
  const isOwned = where.some(({ column }) => column === OWNER);
  const conditions = where.map(condition =>
    condition.column === OWNER && 'is' in condition && !hasColumn(list.from, OWNER)
      ? isNamedBy(String(condition.is))
      : inSql(condition, at),
  );
  return sql`${table(list.from)} AS listed WHERE ${every([
    ...conditions,
    ...(isOfAny && !isOwned ? [ofAnyOrganization(list.entry)] : []),
    ...(at === null ? [] : [stoodAt(at)]),
  ])}`;
}

/** Keys begin with the organization: one row is searched for in all of them. */
function isNamed(list: List, where: readonly Condition[]): boolean {
  return where.some(({ column }) => column === list.idColumn);
}

async function readTotal(reader: Reader, asked: ListSelection): Promise<Total> {
  const few = sql`SELECT ${plain(amountIn(asked))} FROM ${fitting(asked)} LIMIT ${COUNT_TO + 1}`;
  return await only(reader, sql<Total>`SELECT ${TOTAL} FROM (${few}) AS few`);
}

/** Of what adds up to a sum, how much belongs to some organizations, in millionths of a tonne. */
export async function readSumOf(
  reader: Reader,
  asked: ListSelection,
  among: readonly string[],
): Promise<bigint> {
  const where = [...asked.where, { column: OWNER, among }];
  return exact(await readTotal(reader, { ...asked, where })).amount_micro;
}

const AMOUNT = 'amount_micro';
const TOTALS = ['tonnes', 'rest', 'rows', 'rows_without_amount'];

function amountIn({ list }: ListSelection): string {
  return hasColumn(list.from, AMOUNT) ? AMOUNT : `CAST(NULL AS integer) AS ${AMOUNT}`;
}

/** Tonnes of one type add up, and of what has none. */
function addsUp({ list, where }: ListSelection): boolean {
  const isOfOne = !hasColumn(list.from, 'type') || where.some(({ column }) => column === 'type');
  return isOfOne && hasColumn(list.from, AMOUNT);
}

const NULLS = { asc: ' NULLS FIRST', desc: ' NULLS LAST' };

function inOrder({ from, order }: List, isWhole: boolean): Statement {
  const terms = order.map(([column, direction]) => {
    const nulls = mayBeNull(from, column) && !isWhole ? NULLS[direction] : '';
    return `${column} ${direction.toUpperCase()}${nulls}`;
  });
  return plain(terms.join(', '));
}

/** What comes after the page before. */
function beyond({ list: { order }, after }: AskedPage, isWhole: boolean): Statement {
  if (after === null) return plain('1 = 1');
  if (!isWhole) return laterThan(order, after);
  const sign = order[0]?.[1] === 'desc' ? '<' : '>';
  const values = after.map(value => sql`${value}`);
  return sql`(${plain(order.map(([column]) => column).join(', '))}) ${plain(sign)} (${joined(values, ', ')})`;
}

/** Null comes first on the way up and last on the way down, as the order has it. */
function laterThan(order: SortOrder, after: readonly Value[]): Statement {
  const [[name, direction] = ['', 'asc' as const], ...rest] = order;
  const [value = null, ...others] = after;
  const column = plain(name);
  const isSame = value === null ? sql`${column} IS NULL` : sql`${column} = ${value}`;
  const tied = rest.length === 0 ? [] : [sql`(${isSame} AND ${laterThan(rest, others)})`];
  return sql`(${joined([...past(column, direction, value), ...tied], ' OR ')})`;
}

function past(column: Statement, direction: 'asc' | 'desc', value: Value): Statement[] {
  if (direction === 'asc') return [value === null ? sql`${column} IS NOT NULL` : sql`${column} > ${value}`];
  return value === null ? [] : [sql`${column} < ${value}`, sql`${column} IS NULL`];
}
