import type { ExpressionBuilder, OrderByItemBuilder } from 'kysely';
import type { Reader } from '../engines/contract/reader.js';
import { type Row, TABLES, type Tables } from '../engines/contract/tables.js';
import { type Entry, NAME_OF_OWNER, type Order } from '../resources/entry.js';

/** Asks tables that are known by their names only. These come from the resources, never from a person. */
export function byName({ db }: Reader) {
  return db.withTables<Record<string, Row>>();
}

type Named = ExpressionBuilder<Tables & Record<string, Row>, string>;

/** Columns of a table, and the name of the organization whose a row is, which no table but its own holds. */
export function withOwner(from: string, columns: readonly string[]) {
  return (eb: Named) =>
    columns.map(name =>
      name === NAME_OF_OWNER
        ? eb
            .selectFrom('organizations as owner')
            .select('owner.full_name')
            .whereRef('owner.id', '=', `${from}.organization_id`)
            .as(NAME_OF_OWNER)
        : name,
    );
}

type Direct = (order: OrderByItemBuilder) => OrderByItemBuilder;

/** Null comes first, in every engine. */
export const NULLS_FIRST: Direct = order => order.asc().nullsFirst();

interface Ordered {
  readonly column: string;
  readonly direct: Direct;
}

/** An order in which no two rows are equal: their versions decide, the way of the last column, where nothing else does. */
export function totalOrder({ table }: Entry, order: Order): Ordered[] {
  const last = order.at(-1)?.[1] ?? 'asc';
  return [...order, ['version', last] as const].map(([column, way]) => ({
    column,
    direct: mayBeNull(table, column) ? beside(way) : each => each[way](),
  }));
}

/** Null comes before everything on the way up, and after it on the way down. */
function beside(way: 'asc' | 'desc'): Direct {
  return way === 'asc' ? NULLS_FIRST : order => order.desc().nullsLast();
}

export function mayBeNull(table: string, column: string): boolean {
  const columns = Object.entries(TABLES).find(([name]) => name === table)?.[1] ?? {};
  const kind = Object.entries(columns).find(([name]) => name === column)?.[1];
  return typeof kind === 'string' && kind.endsWith('?');
}

/** As every engine's `lower` has text that is kept: of all letters those of ASCII. What is asked for may be lowered otherwise. */
export function lowered(text: string): string {
  return text.replaceAll(/[A-Z]/g, letter => letter.toLowerCase());
}
