import type { Expression, ExpressionBuilder, OrderByItemBuilder, RawNode, SqlBool, ValueNode } from 'kysely';
import type { Reader } from '../engines/contract/reader.js';
import { mayBeNull, type Row, type Tables } from '../engines/contract/tables.js';
import { type Entry, NAME_OF_OWNER, type Order } from '../resources/entry.js';

/** Asks tables that are known by their names only. These come from the resources, never from a person. */
export function byName({ db }: Reader) {
  return db.withTables<Record<string, Row>>();
}

/**
 * Of a history what stood at an instant: from `valid_from` on, and before `valid_to`. Written as what `sql` would make of it:
 * that one is loaded with all of Kysely, which a quick command does without.
 */
export function stoodAt(at: string | Expression<unknown>, alias?: string): Expression<SqlBool> {
  const of = alias === undefined ? '' : `${alias}.`;
  const value: ValueNode = { kind: 'ValueNode', value: at };
  const instant = typeof at === 'string' ? value : at.toOperationNode();
  const node: RawNode = {
    kind: 'RawNode',
    sqlFragments: [`(${of}valid_from <= `, ` and (${of}valid_to is null or ${of}valid_to > `, '))'],
    parameters: [instant, instant],
  };
  return { expressionType: undefined, toOperationNode: () => node };
}

type Named = ExpressionBuilder<Tables & Record<string, Row>, string>;

/** Columns of a table, and the name of the organization whose a row is, which no table but its own holds. */
export function withOwner(from: string, columns: readonly string[], at: string | null = null) {
  return withLookedUp(from, from, columns, at);
}

/** Of the job that was sure to start after a delivery. */
const OF_JOB: Readonly<Record<string, 'state' | 'outcome'>> = { job_state: 'state', outcome: 'outcome' };

const DELIVERIES = 'inbox.deliveries';

/** The column by which another is looked up in another table; null where the table itself has it. */
export function lookedUpBy(table: string, column: string): string | null {
  if (table === DELIVERIES && column in OF_JOB) return 'job_id';
  if (column !== NAME_OF_OWNER) return null;
  return table === DELIVERIES ? 'installation_id' : 'organization_id';
}

/** Columns of a table, or of its rows under another name, and those that are looked up for each row: as of the instant of the rows. */
export function withLookedUp(table: string, from: string, columns: readonly string[], at: string | null) {
  return (eb: Named) =>
    columns.map(name => {
      const by = lookedUpBy(table, name);
      if (by === null) return name;
      const ref = `${from}.${by}`;
      const ofJob = OF_JOB[name];
      if (by === 'job_id' && ofJob !== undefined) return askOfJob(eb, ref, ofJob).as(name);
      return by === 'installation_id' ? nameOfInstalled(eb, ref) : nameOfOwner(eb, ref, at);
    });
}

function nameOfOwner(eb: Named, id: string, at: string | null) {
  if (at !== null) {
    return eb
      .selectFrom('organizations_history as owner')
      .select('owner.full_name')
      .whereRef('owner.id', '=', id)
      .where(stoodAt(at, 'owner'))
      .as(NAME_OF_OWNER);
  }
  return eb
    .selectFrom('organizations as owner')
    .select('owner.full_name')
    .whereRef('owner.id', '=', id)
    .as(NAME_OF_OWNER);
}

function nameOfInstalled(eb: Named, id: string) {
  return eb
    .selectFrom('installations as installed')
    .innerJoin('organizations as owner', 'owner.id', 'installed.organization_id')
    .select('owner.full_name')
    .whereRef('installed.id', '=', id)
    .as(NAME_OF_OWNER);
}

/** Of the job that it was merged into, where it was. */
function askOfJob(eb: Named, id: string, column: 'state' | 'outcome') {
  return eb
    .selectFrom('inbox.jobs as job')
    .leftJoin('inbox.jobs as merged', 'merged.id', 'job.merged_into')
    .select(of => of.fn.coalesce(`merged.${column}`, `job.${column}`).as(column))
    .whereRef('job.id', '=', id);
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

/** As every engine's `lower` has text that is kept: of all letters those of ASCII. What is asked for may be lowered otherwise. */
export function lowered(text: string): string {
  return text.replaceAll(/[A-Z]/g, letter => letter.toLowerCase());
}
