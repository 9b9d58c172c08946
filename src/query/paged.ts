import type { Compilable, Expression, ExpressionBuilder, OrderByItemBuilder, SqlBool } from 'kysely';
import type { Reader } from '../engines/contract/reader.js';
import type { Row, Tables, Value } from '../engines/contract/tables.js';
import { byName, withOwner } from './by-name.js';

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

export async function readPage(reader: Reader, paging: Paging): Promise<Paged> {
  const { order, limit } = paging;
  const asked = ask(reader, paging);
  const found = await asked.limit(limit + 1).execute();
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  const counted = await countRows(reader, paging);
  return {
    rows,
    next: found.length > limit && last !== undefined ? order.map(([column]) => last[column] ?? null) : null,
    count: Math.min(counted, COUNT_TO),
    isCountedToTheEnd: counted <= COUNT_TO,
    sql: sqlOf(asked.limit(limit)),
  };
}

/** All rows of all pages, in groups. */
export function streamRows(reader: Reader, paging: Paging, atOnce: number): AsyncIterable<Row> {
  return ask(reader, { ...paging, after: null }).stream(atOnce);
}

function ask(reader: Reader, paging: Paging) {
  const { from, columns, order, after } = paging;
  const shown = [...new Set([...columns, ...order.map(([name]) => name)])];
  let asked = filtered(reader, paging).select(withOwner(from, shown));
  if (after !== null) asked = asked.where(eb => laterThan(eb, order, after));
  for (const [column, direction] of order) asked = asked.orderBy(column, nullsAside(direction));
  return asked;
}

function filtered(reader: Reader, { from, filters, at }: Paging) {
  let asked = byName(reader).selectFrom(from);
  for (const [column, value] of filters) asked = asked.where(column, '=', value);
  if (at === null) return asked;
  return asked
    .where('valid_from', '<=', at)
    .where(eb => eb.or([eb('valid_to', 'is', null), eb('valid_to', '>', at)]));
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
function sqlOf(asked: Compilable): string {
  const { sql, parameters } = asked.compile();
  let at = 0;
  return sql.replace(/\?|\$(\d+)/g, (_sign, number?: string) => {
    const value = parameters[number === undefined ? at++ : Number(number) - 1];
    if (typeof value === 'number' || typeof value === 'bigint') return String(value);
    return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : 'null';
  });
}
