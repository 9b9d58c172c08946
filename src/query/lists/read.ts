import type { Expression, ExpressionBuilder, OrderByItemBuilder, SelectQueryBuilder, SqlBool } from 'kysely';
import { AT_ONCE, type Reader } from '../../store/contract/reader.js';
import { hasColumn, mayBeNull, type Row, type Tables, type Value } from '../../store/contract/tables.js';
import { NAME_OF_OWNER, type Order } from '../../resources/entry.js';
import { byName, fits, ownerIn, sqlOf, stoodAt, valueOf, withOwner, written } from '../sql.js';
import type { Condition } from './filter.js';
import type { Asked, List } from './list.js';
import { ofAnyOrganization, thatNames } from './find.js';

interface AskedPage extends Asked {
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
const OWNER = 'organization_id';

export async function readPage(reader: Reader, asked: AskedPage): Promise<Paged> {
  const { list, order, limit } = asked;
  const way = await wayOf(reader, asked);
  const { found, count } =
    way === 'sort' ? await readSorted(reader, asked) : await readOn(way, reader, asked);
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return {
    rows: list.refine === null ? rows : await list.refine(reader, rows),
    next: found.length > limit && last !== undefined ? order.map(([column]) => last[column] ?? null) : null,
    count: Math.min(count, COUNT_TO),
    isCountedToTheEnd: count <= COUNT_TO,
    sql: sqlOf(askBy('walk', reader, asked).limit(limit)),
  };
}

interface Found {
  /** One more than a page has, where there is a next one. */
  readonly found: readonly Row[];
  readonly count: number;
}

async function readOn(way: Way, reader: Reader, asked: AskedPage): Promise<Found> {
  const found = await withNames(reader, asked, askBy(way, reader, asked, ownOf(asked)), way);
  const isAll = asked.after === null && found.length <= asked.limit;
  return { found, count: isAll ? found.length : await countRows(reader, asked) };
}

/** All that fit are looked at once where they are few enough to be counted; of more, first so many and then all. */
async function readSorted(reader: Reader, asked: AskedPage): Promise<Found> {
  const fitting = filtered(reader, asked)
    .select(ownOf(asked))
    .limit(COUNT_TO + 1);
  const counted = byName(reader)
    .with('fitting', () => fitting)
    .selectFrom('fitting')
    .select(eb => [
      ...ownOf(asked),
      eb
        .selectFrom('fitting as each')
        .select(each => each.fn.countAll<number>().as('all'))
        .as('counted'),
    ]);
  const found = await withNames(reader, asked, paged(counted, 'walk', asked), 'sort', ['counted']);
  const count = Number(found[0]?.['counted'] ?? (asked.after === null ? 0 : await countRows(reader, asked)));
  if (count <= COUNT_TO) return { found, count };
  return { found: await withNames(reader, asked, askBy('sort', reader, asked, ownOf(asked)), 'sort'), count };
}

function ownOf(asked: Asked): string[] {
  const own = readOf(asked).map(name => (name === NAME_OF_OWNER ? ownerIn(asked.list.from) : name));
  return [...new Set(own)];
}

/** What stands in another table is looked up for the rows of the page, and not for all that were put in order. */
async function withNames(
  reader: Reader,
  asked: AskedPage,
  rows: Rows,
  way: Way,
  more: readonly string[] = [],
): Promise<Row[]> {
  const { from } = asked.list;
  const named = byName(reader)
    .selectFrom(rows.limit(asked.limit + 1).as('paged'))
    .select(withOwner(from, 'paged', [...readOf(asked), ...more], asked.at));
  return await inOrder(named, way, asked).execute();
}

/** All rows, or so many of them; as they come. */
export async function* streamRows(
  reader: Reader,
  asked: Asked,
  limit: number | null = null,
): AsyncGenerator<Row> {
  const { refine } = asked.list;
  const found = askBy('walk', reader, asked, asked.list.reads);
  const rows = (limit === null ? found : found.limit(limit)).stream(AT_ONCE);
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
  const [row = null] = await readAll(reader, list, [{ column: list.named, is: Number(id) }], 1);
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
  const asked = { list, where, at: null, order: list.order };
  for await (const row of streamRows(reader, asked, limit)) rows.push(row);
  return rows;
}

/** Whether a row is known whose column is so. */
export async function isThere(reader: Reader, { from }: List, column: string, value: Value) {
  const rows = byName(reader).selectFrom(from).select(column).where(column, '=', value);
  return (await rows.limit(1).executeTakeFirst()) !== undefined;
}

/** By an index from where a page begins; the same where something may be missing; or what fits, put in order. */
type Way = 'seek' | 'walk' | 'sort';

async function wayOf(reader: Reader, asked: AskedPage): Promise<Way> {
  const { list, order, after } = asked;
  if (!isIndexed(asked)) return 'sort';
  const isOneWay = new Set(order.map(([, direction]) => direction)).size === 1;
  if (!isOneWay || after?.includes(null) === true) return 'walk';
  for (const [column] of order) {
    if (mayBeNull(list.from, column) && (await isMissing(reader, asked, column))) return 'walk';
  }
  return 'seek';
}

/** Whether an index has in this order the rows that fit. Else each that fits is looked at: to seek them along an index takes longer. By their numbers rows stand in the table itself. */
function isIndexed({ list, where, order }: Asked): boolean {
  if (order[0]?.[0] === list.tie[0]) return true;
  const isOwnOrder = list.order.every(([column], place) => order[place]?.[0] === column);
  return list.isIndexed && isOwnOrder && where.every(({ column }) => column === OWNER);
}

async function isMissing(reader: Reader, asked: Asked, column: string): Promise<boolean> {
  const rows = filtered(reader, asked, true).where(column, 'is', null);
  const found = await rows
    .select(eb => eb.lit(1).as('one'))
    .limit(1)
    .execute();
  return found.length > 0;
}

function askBy(
  way: Way,
  reader: Reader,
  asked: Asked & Partial<AskedPage>,
  columns: readonly string[] = readOf(asked),
) {
  const { from } = asked.list;
  return paged(filtered(reader, asked).select(withOwner(from, from, columns, asked.at)), way, asked);
}

/** From where a page begins. */
function paged(rows: Rows, way: Way, asked: Asked & Partial<AskedPage>): Rows {
  const { order, after = null } = asked;
  if (after === null) return inOrder(rows, way, asked);
  const later = rows.where(eb =>
    way === 'seek' ? beyondAll(eb, order, after) : laterThan(eb, order, after),
  );
  return inOrder(later, way, asked);
}

function readOf({ list, order }: Asked): string[] {
  return [...new Set([...list.reads, ...order.map(([name]) => name)])];
}

function inOrder(rows: Rows, way: Way, { list, order }: Asked): Rows {
  let asked = rows;
  for (const [column, direction] of order) {
    if (way === 'sort') asked = asked.orderBy(eb => offIndex(eb, column), nullsAside(direction));
    else if (mayBeNull(list.from, column) && way === 'walk')
      asked = asked.orderBy(column, nullsAside(direction));
    else asked = asked.orderBy(column, direction);
  }
  return asked;
}

/** The column itself, by no index. */
function offIndex(eb: Builder, column: string) {
  return eb.case().when(eb.lit(1), '=', eb.lit(1)).then(eb.ref(column)).end();
}

/** Where nothing is missing and all goes one way, engines find the place by an index. */
function beyondAll(eb: Builder, order: Order, after: readonly Value[]): Expression<SqlBool> {
  const commas = order.slice(1).map(() => ', ');
  const sign = order[0]?.[1] === 'desc' ? '<' : '>';
  const columns = order.map(([column]) => eb.ref(column).toOperationNode());
  return written(['(', ...commas, `) ${sign} (`, ...commas, ')'], [...columns, ...after.map(valueOf)]);
}

function filtered(reader: Reader, { list, where, at }: Asked, isOfAny = isNamed(list, where)) {
  let asked = byName(reader).selectFrom(list.from);
  for (const condition of where) {
    asked =
      condition.column === OWNER && 'is' in condition && !hasColumn(list.from, OWNER)
        ? asked.where('id', 'in', thatNames(reader, String(condition.is)))
        : asked.where(eb => fits(eb, condition));
  }
  const owned = isOfAny && list.entry !== null ? ofAnyOrganization(reader, list.entry) : null;
  if (owned !== null && !where.some(({ column }) => column === OWNER))
    asked = asked.where(owned.column, 'in', owned.values);
  return at === null ? asked : asked.where(stoodAt(at));
}

/** Keys begin with the organization: one row is searched for in all of them. */
function isNamed(list: List, where: readonly Condition[]): boolean {
  return where.some(({ column }) => column === list.named);
}

async function countRows(reader: Reader, asked: Asked): Promise<number> {
  const some = filtered(reader, asked)
    .select(eb => eb.lit(1).as('one'))
    .limit(COUNT_TO + 1);
  const { count } = await reader.db
    .selectFrom(some.as('some'))
    .select(eb => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

type Rows = SelectQueryBuilder<Tables & Record<string, Row>, string, Row>;
type Builder = ExpressionBuilder<Tables & Record<string, Row>, string>;

/** Null comes first on the way up and last on the way down, as the order has it. */
function laterThan(eb: Builder, order: Order, after: readonly Value[]): Expression<SqlBool> {
  const [first, ...rest] = order;
  const [value = null, ...others] = after;
  if (first === undefined) return eb.lit(false);
  const [column, direction] = first;
  const same = value === null ? eb(column, 'is', null) : eb(column, '=', value);
  const tied = rest.length === 0 ? [] : [eb.and([same, laterThan(eb, rest, others)])];
  return eb.or([...beyond(eb, column, direction, value), ...tied]);
}

function beyond(eb: Builder, column: string, direction: 'asc' | 'desc', value: Value) {
  if (direction === 'asc') return value === null ? [eb(column, 'is not', null)] : [eb(column, '>', value)];
  return value === null ? [] : [eb(column, '<', value), eb(column, 'is', null)];
}

function nullsAside(direction: 'asc' | 'desc') {
  return (order: OrderByItemBuilder) =>
    direction === 'asc' ? order.asc().nullsFirst() : order.desc().nullsLast();
}
