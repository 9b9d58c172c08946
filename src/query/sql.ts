import type {
  Compilable,
  Expression,
  ExpressionBuilder,
  OperationNode,
  OrderByItemBuilder,
  SelectQueryBuilder,
  SqlBool,
  StringReference,
} from 'kysely';
import type { Reader } from '../store/contract/reader.js';
import type { Row, Tables } from '../store/contract/tables.js';
import { NAME_OF_OWNER } from '../resources/entry.js';
import type { Condition } from './lists/filter.js';

/** Asks tables that are known by their names only. These come from the resources, never from a person. */
export function byName({ db }: Reader) {
  return db.withTables<Record<string, Row>>();
}

/** Whatever is asked in it was true at one moment; what is asked in one inside another, at that one's. */
export async function inSnapshot<T>(reader: Reader, work: (reader: Reader) => Promise<T>): Promise<T> {
  if (reader.db.isTransaction) return await work(reader);
  const snapshot = reader.db.transaction().setIsolationLevel('repeatable read');
  return await snapshot.execute(async db => await work({ ...reader, db }));
}

/** How many rows there are. */
export async function count<DB, TB extends keyof DB>(
  rows: SelectQueryBuilder<DB, TB, object>,
): Promise<number> {
  const counted = rows.select(eb => eb.fn.countAll<number>().as('count')).$castTo<{ count: number }>();
  return (await counted.executeTakeFirstOrThrow()).count;
}

/** The largest number or the latest instant in a column; null where there is none. */
export async function largest<DB, TB extends keyof DB, T extends string | number = string>(
  rows: SelectQueryBuilder<DB, TB, object>,
  column: StringReference<DB, TB>,
): Promise<T | null> {
  const found = rows.select(eb => eb.fn.max<T | null>(column).as('largest')).$castTo<{ largest: T | null }>();
  return (await found.executeTakeFirstOrThrow()).largest;
}

/** Rows of one organization, or of all of them. */
export function ofOne(organizationId: string | null, alias?: string): Expression<SqlBool> {
  if (organizationId === null) return written(['1 = 1'], []);
  return written(
    [`${alias === undefined ? '' : `${alias}.`}organization_id = `, ''],
    [valueOf(organizationId)],
  );
}

/** Of a history what stood at an instant: from `valid_from` on, and before `valid_to`. */
export function stoodAt(at: string, alias?: string): Expression<SqlBool> {
  const of = alias === undefined ? '' : `${alias}.`;
  const instant = valueOf(at);
  const fragments = [`(${of}valid_from <= `, ` and (${of}valid_to is null or ${of}valid_to > `, '))'];
  return written(fragments, [instant, instant]);
}

/** What `sql` would make of fragments and what stands between them: that one is loaded with all of Kysely, which a quick command does without. */
export function written<T>(
  sqlFragments: readonly string[],
  parameters: readonly OperationNode[],
): Expression<T> {
  const node = { kind: 'RawNode', sqlFragments, parameters } as const;
  return { expressionType: undefined, toOperationNode: () => node };
}

export function valueOf(value: unknown): OperationNode {
  const node = { kind: 'ValueNode', value } as const;
  return node;
}

type Named = ExpressionBuilder<Tables & Record<string, Row>, string>;

/** The column by which the organization is known whose a row is. */
export function ownerIn(table: string): string {
  return table === 'inbox.deliveries' ? 'installation_id' : 'organization_id';
}

/** Columns of a table, or of its rows under another name, and the name of the organization whose a row is, which no table but its own holds: as of the instant of the rows. */
export function withOwner(table: string, from: string, columns: readonly string[], at: string | null) {
  const id = `${from}.${ownerIn(table)}`;
  const nameOf = ownerIn(table) === 'installation_id' ? nameOfInstalled : nameOfOwner;
  return (eb: Named) => columns.map(name => (name === NAME_OF_OWNER ? nameOf(eb, id, at) : name));
}

function nameOfOwner(eb: Named, id: string, at: string | null) {
  const owner =
    at === null
      ? eb.selectFrom('organizations as owner')
      : eb.selectFrom('organizations_history as owner').where(stoodAt(at, 'owner'));
  return owner.select('owner.full_name').whereRef('owner.id', '=', id).as(NAME_OF_OWNER);
}

function nameOfInstalled(eb: Named, id: string) {
  return eb
    .selectFrom('installations as installed')
    .innerJoin('organizations as owner', 'owner.id', 'installed.organization_id')
    .select('owner.full_name')
    .whereRef('installed.id', '=', id)
    .as(NAME_OF_OWNER);
}

/** Null comes first, in every engine. */
export const NULLS_FIRST = (order: OrderByItemBuilder) => order.asc().nullsFirst();

/** As every engine's `lower` has text that is kept: of all letters those of ASCII. What is asked for may be lowered otherwise. */
function lowered(text: string): string {
  return text.replaceAll(/[A-Z]/g, letter => letter.toLowerCase());
}

export function fits(eb: ExpressionBuilder<Record<string, Row>, string>, condition: Condition) {
  const { column } = condition;
  if ('is' in condition) return eb(column, '=', condition.is);
  if ('among' in condition)
    return condition.among.length === 0 ? eb.lit(false) : eb(column, 'in', condition.among);
  if ('above' in condition) return eb(column, '>', eb.lit(condition.above));
  if ('from' in condition) {
    return eb.and([eb(column, '>=', condition.from), eb(column, '<=', condition.to)]);
  }
  const pattern = `%${lowered(condition.holds).replaceAll(/[\\%_]/g, sign => `\\${sign}`)}%`;
  const text = eb.fn<string>('lower', [column]).toOperationNode();
  return written<SqlBool>(['', ' like ', " escape '\\'"], [text, valueOf(pattern)]);
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
