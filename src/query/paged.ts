import {
  type Compilable,
  type Expression,
  type ExpressionBuilder,
  type OrderByItemBuilder,
  type SelectQueryBuilder,
  sql,
  type SqlBool,
} from 'kysely';
import type { Reader } from '../engines/contract/reader.js';
import type { Row, Tables, Value } from '../engines/contract/tables.js';
import { PROJECTS } from '../resources/projects.js';
import { byName, lookedUpBy, stoodAt, withLookedUp } from './by-name.js';
import { mayBeNull } from '../engines/contract/tables.js';

export type Direction = 'asc' | 'desc';

/** A page of a table: every name in it comes from us, every value may come from a person. */
export interface Paging {
  readonly from: string;
  readonly columns: readonly string[];
  /** Rows whose column has exactly this value. */
  readonly filters: readonly (readonly [column: string, value: string | number])[];
  /** Of a history: what was true at this instant. Null where rows have no dates, or all of them are asked for. */
  readonly at: string | null;
  /** In this order; the last column is different in each row. */
  readonly order: readonly (readonly [column: string, direction: Direction])[];
  /** The columns of the order in the last row of the page before; null for the first page. */
  readonly after: readonly Value[] | null;
  readonly limit: number;
  /** Whether an index has in this order the rows that fit. Else each that fits is looked at: to seek them along an index takes longer. */
  readonly isIndexed: boolean;
  /** Whether what fits is known by a key that begins with the organization. */
  readonly isKeyed: boolean;
}

export interface Paged {
  readonly rows: readonly Row[];
  /** Where the next page begins; null where there is none. */
  readonly next: readonly Value[] | null;
  /** How many rows there are in all pages, or as many as are counted. */
  readonly count: number;
  readonly isCountedToTheEnd: boolean;
  /** What was asked, as a person may ask it again. */
  readonly sql: string;
}

const COUNT_TO = 10_000;
const OWNER = 'organization_id';
/** They belong to nobody, and are of every organization that names them. */
const OF_NOBODY = [PROJECTS.table, `${PROJECTS.table}_history`];

export async function readPage(reader: Reader, paging: Paging): Promise<Paged> {
  const { order, after, limit } = paging;
  const found = await readRows(await wayOf(reader, paging), reader, paging);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const isAll = after === null && found.length <= limit;
  const counted = isAll ? found.length : await countRows(reader, paging);
  return {
    rows,
    next: found.length > limit && last !== undefined ? order.map(([column]) => last[column] ?? null) : null,
    count: Math.min(counted, COUNT_TO),
    isCountedToTheEnd: counted <= COUNT_TO,
    sql: sqlOf(askBy('walk', reader, paging).limit(limit)),
  };
}

/** What stands in another table is looked up for the rows of the page, and not for all that were put in order. */
async function readRows(way: Way, reader: Reader, paging: Paging): Promise<Row[]> {
  const columns = shownOf(paging);
  const own = columns.map(name => lookedUpBy(paging.from, name) ?? name);
  const rows = askBy(way, reader, paging, [...new Set(own)]).limit(paging.limit + 1);
  const named = byName(reader)
    .selectFrom(rows.as('paged'))
    .select(withLookedUp(paging.from, 'paged', columns, paging.at));
  return await inOrder(named, way, paging).execute();
}

/** All rows of all pages, in groups. */
export function streamRows(reader: Reader, paging: Paging, atOnce: number): AsyncIterable<Row> {
  return askBy('walk', reader, { ...paging, after: null }).stream(atOnce);
}

/** By an index from where a page begins; the same where something may be missing; or what fits, put in order. */
type Way = 'seek' | 'walk' | 'sort';

async function wayOf(reader: Reader, paging: Paging): Promise<Way> {
  const { from, order, after, isIndexed } = paging;
  if (!isIndexed) return 'sort';
  const isOneWay = new Set(order.map(([, direction]) => direction)).size === 1;
  if (!isOneWay || after?.includes(null) === true) return 'walk';
  for (const [column] of order) {
    if (mayBeNull(from, column) && (await isMissing(reader, paging, column))) return 'walk';
  }
  return 'seek';
}

async function isMissing(reader: Reader, paging: Paging, column: string): Promise<boolean> {
  const rows = filtered(reader, { ...paging, isKeyed: true }).where(column, 'is', null);
  const found = await rows
    .select(eb => eb.lit(1).as('one'))
    .limit(1)
    .execute();
  return found.length > 0;
}

function askBy(way: Way, reader: Reader, paging: Paging, columns = shownOf(paging)) {
  const { from, order, after } = paging;
  let asked = filtered(reader, paging).select(withLookedUp(from, from, columns, paging.at));
  if (after !== null)
    asked = asked.where(eb => (way === 'seek' ? beyondAll(order, after) : laterThan(eb, order, after)));
  return inOrder(asked, way, paging);
}

function shownOf({ columns, order }: Paging): string[] {
  return [...new Set([...columns, ...order.map(([name]) => name)])];
}

function inOrder(rows: Found, way: Way, { from, order }: Paging): Found {
  let asked = rows;
  for (const [column, direction] of order) {
    if (way === 'sort') asked = asked.orderBy(offIndex(column), nullsAside(direction));
    else if (mayBeNull(from, column) && way === 'walk') asked = asked.orderBy(column, nullsAside(direction));
    else asked = asked.orderBy(column, direction);
  }
  return asked;
}

/** The column itself, by no index. */
function offIndex(column: string) {
  return sql`case when 1 = 1 then ${sql.ref(column)} end`;
}

/** Where nothing is missing and all goes one way, engines find the place by an index. */
function beyondAll(order: Paging['order'], after: readonly Value[]): Expression<SqlBool> {
  const columns = sql.join(order.map(([column]) => sql.ref(column)));
  const sign = sql.raw(order[0]?.[1] === 'desc' ? '<' : '>');
  return sql<SqlBool>`(${columns}) ${sign} (${sql.join(after)})`;
}

function filtered(reader: Reader, { from, filters, at, isKeyed }: Paging) {
  let asked = byName(reader).selectFrom(from);
  for (const [column, value] of filters) {
    asked =
      column === OWNER && OF_NOBODY.includes(from)
        ? asked.where('id', 'in', namedBy(reader, String(value)))
        : asked.where(column, '=', value);
  }
  const isOfOne = filters.some(([column]) => column === OWNER);
  if (isKeyed && !isOfOne) {
    asked = asked.where(OWNER, 'in', reader.db.selectFrom('resource_states').select(OWNER));
  }
  if (at === null) return asked;
  return asked.where(stoodAt(at));
}

function namedBy({ db }: Reader, organizationId: string) {
  return db.selectFrom('project_references').select('project_id').where(OWNER, '=', organizationId);
}

async function countRows(reader: Reader, paging: Paging): Promise<number> {
  const some = filtered(reader, paging)
    .select(eb => eb.lit(1).as('one'))
    .limit(COUNT_TO + 1);
  const { count } = await reader.db
    .selectFrom(some.as('some'))
    .select(eb => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

type Found = SelectQueryBuilder<Tables & Record<string, Row>, string, Row>;
type Builder = ExpressionBuilder<Tables & Record<string, Row>, string>;

/** Null comes first on the way up and last on the way down, as the order has it. */
function laterThan(eb: Builder, order: Paging['order'], after: readonly Value[]): Expression<SqlBool> {
  const [first, ...rest] = order;
  const [value = null, ...others] = after;
  if (first === undefined) return eb.lit(false);
  const [column, direction] = first;
  const same = value === null ? eb(column, 'is', null) : eb(column, '=', value);
  const tied = rest.length === 0 ? [] : [eb.and([same, laterThan(eb, rest, others)])];
  return eb.or([...beyond(eb, column, direction, value), ...tied]);
}

function beyond(eb: Builder, column: string, direction: Direction, value: Value) {
  if (direction === 'asc') return value === null ? [eb(column, 'is not', null)] : [eb(column, '>', value)];
  return value === null ? [] : [eb(column, '<', value), eb(column, 'is', null)];
}

function nullsAside(direction: Direction) {
  return (order: OrderByItemBuilder) =>
    direction === 'asc' ? order.asc().nullsFirst() : order.desc().nullsLast();
}

/** With the values in their places: they are shown, and run by nobody but whoever takes them up. */
export function sqlOf(asked: Compilable): string {
  const { sql: text, parameters } = asked.compile();
  let at = 0;
  return text.replace(/\?|\$(\d+)/g, (_sign, number?: string) => {
    const value = parameters[number === undefined ? at++ : Number(number) - 1];
    if (typeof value === 'number' || typeof value === 'bigint') return String(value);
    return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : 'null';
  });
}
