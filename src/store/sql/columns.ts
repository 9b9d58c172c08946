import {
  type Expression,
  type Insertable,
  type InsertType,
  type RawBuilder,
  type Selectable,
  type SelectType,
  sql,
} from 'kysely';
import type { Db, Value } from '../contract/tables.js';
import type { Kinds, Table } from '../dialect.js';
import type { RelationRow, SqlFunctions } from './functions.js';

type DbTable = Extract<keyof Db, string>;

/** A reference to a table: each property is a column as SQL, and a call returns the table itself. Column names are type-checked. */
export type TableRef<Name extends DbTable> = {
  readonly [Column in keyof Db[Name] & string]: RawBuilder<SelectType<Db[Name][Column]>>;
} & (() => RawBuilder<Selectable<Db[Name]>>);

/** Refers to a table and its columns in an `sql` template. With an alias, the columns are qualified by it. */
export function tableRef<Name extends DbTable>(table: Name, alias?: string): TableRef<Name>;
/** Returns a Proxy: each property is the column of that name as SQL, and a call returns the table itself. */
export function tableRef(table: string, alias?: string): object {
  const reference = alias === undefined ? sql.table(table) : sql`${sql.table(table)} AS ${sql.id(alias)}`;
  const path = alias === undefined ? [] : [alias];
  // Each property is a column: the type lists those that exist.
  return new Proxy(() => reference, { get: (_, column) => sql.id(...path, String(column)) });
}

/** Lists columns whose names are known only at runtime. Otherwise use `tableRef`, which type-checks them. */
export function listColumns(alias: string, names: readonly string[]): RawBuilder<unknown> {
  return sql.join(names.map(name => sql.id(alias, name)));
}

type ColumnsOf<Columns extends Kinds> = {
  readonly [Name in keyof Columns & string]: RawBuilder<RelationRow<Columns>[Name]>;
};

/** Rows that are passed to a statement as JSON, and the columns of that relation as SQL. */
export interface JsonRelation<Columns extends Kinds> {
  readonly columns: ColumnsOf<Columns>;
  /** The relation with its alias, for FROM and JOIN. */
  readonly from: (fn: SqlFunctions, json: Expression<string>) => RawBuilder<unknown>;
  /** Converts rows to the value of the JSON parameter. */
  readonly toTable: (rows: readonly { readonly [Name in keyof Columns]: Value }[]) => Table;
}

function nameColumns<Columns extends Kinds>(alias: string, columns: Columns): ColumnsOf<Columns>;
function nameColumns(alias: string, columns: Kinds): Readonly<Record<string, RawBuilder<unknown>>> {
  return Object.fromEntries(Object.keys(columns).map(name => [name, sql.id(alias, name)]));
}

/**
 * Defines a relation named `alias` whose rows are passed to a statement as one JSON parameter. `columns` maps each column to its
 * type.
 */
export function jsonRelation<const Columns extends Kinds>(
  alias: string,
  columns: Columns,
): JsonRelation<Columns> {
  const names = Object.keys(columns);
  return {
    columns: nameColumns(alias, columns),
    from: (fn, json) => sql`${fn.jsonRows(json, columns)} AS ${sql.id(alias)}`,
    toTable: rows => ({ columns, rows: rows.map(row => names.map(name => row[name] ?? null)) }),
  };
}

type CellExpressions = Readonly<Record<string, Expression<unknown>>>;
type RowOfCells<C extends CellExpressions> = {
  readonly [Name in keyof C]: C[Name] extends Expression<infer Cell> ? Cell : never;
};

/** A list of expressions after SELECT or RETURNING. `Row` is the type of its rows. */
export class SelectList<Row> {
  /** Never set. Lets the compiler infer `Row`. */
  declare readonly row?: Row;
  readonly #list: RawBuilder<unknown>;

  constructor(list: RawBuilder<unknown>) {
    this.#list = list;
  }

  toOperationNode() {
    return this.#list.toOperationNode();
  }
}

/** Builds the list after SELECT or RETURNING: `{ name: expression }` becomes `expression AS name`. */
export function select<const C extends CellExpressions>(cells: C): SelectList<RowOfCells<C>> {
  return new SelectList(
    sql.join(Object.entries(cells).map(([name, cell]) => sql`${cell} AS ${sql.id(name)}`)),
  );
}

type RowIn<Parts extends readonly unknown[]> = Parts extends readonly [infer First, ...infer Rest]
  ? First extends SelectList<infer Row>
    ? Row
    : RowIn<Rest>
  : never;

/** A template tag for a whole statement. Its rows have the type of the `select` list in it; without one it returns no rows. */
export function sqlStatement<const Parts extends readonly unknown[]>(
  texts: TemplateStringsArray,
  ...parts: Parts
): RawBuilder<RowIn<Parts>> {
  return sql(texts, ...parts);
}

type InsertCells<Name extends DbTable> = {
  readonly [Column in keyof Insertable<Db[Name]>]: Expression<InsertType<Db[Name][Column & keyof Db[Name]]>>;
};

/**
 * Builds the statement `INSERT INTO table (columns) SELECT expressions source`. `cells` maps each column to its expression, and
 * `source` is the SQL after the expressions, such as FROM or WHERE.
 */
export function insertFrom<Name extends DbTable>(
  table: Name,
  cells: InsertCells<Name>,
  source: RawBuilder<unknown>,
): RawBuilder<never> {
  const entries = Object.entries<Expression<unknown>>(cells as CellExpressions);
  const names = sql.join(entries.map(([column]) => sql.id(column)));
  return sql`INSERT INTO ${sql.table(table)} (${names}) SELECT ${sql.join(entries.map(([, cell]) => cell))} ${source}`;
}
