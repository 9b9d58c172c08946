import {
  type Expression,
  type Insertable,
  type InsertType,
  type RawBuilder,
  type Selectable,
  type SelectType,
  sql,
} from 'kysely';
import type { Db } from '../contract/tables.js';
import type { Kinds, Table, Value } from '../dialect.js';
import type { RelationRow, SqlFunctions } from './functions.js';

type TableName = Extract<keyof Db, string>;

/** The columns of a table as SQL, checked by the compiler. Called as a function, it is the table itself. */
export type TableRef<Name extends TableName> = {
  readonly [Column in keyof Db[Name] & string]: RawBuilder<SelectType<Db[Name][Column]>>;
} & (() => RawBuilder<Selectable<Db[Name]>>);

/** Names a table for use in `sql`. With an alias its columns are qualified by it. */
export function tableRef<Name extends TableName>(table: Name, alias?: string): TableRef<Name>;
export function tableRef(table: string, alias?: string): object {
  const reference = alias === undefined ? sql.table(table) : sql`${sql.table(table)} AS ${sql.id(alias)}`;
  const path = alias === undefined ? [] : [alias];
  // Each property is a column: the type lists those that exist.
  return new Proxy(() => reference, { get: (_, column) => sql.id(...path, String(column)) });
}

/** Lists columns whose names come from a column list. The names of a known table are checked by `named` instead. */
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
  /** The value of the parameter. */
  readonly toTable: (rows: readonly { readonly [Name in keyof Columns]: Value }[]) => Table;
}

function nameColumns<Columns extends Kinds>(alias: string, columns: Columns): ColumnsOf<Columns>;
function nameColumns(alias: string, columns: Kinds): Readonly<Record<string, RawBuilder<unknown>>> {
  return Object.fromEntries(Object.keys(columns).map(name => [name, sql.id(alias, name)]));
}

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

type Cells = Readonly<Record<string, Expression<unknown>>>;
type RowOfCells<C extends Cells> = {
  readonly [Name in keyof C]: C[Name] extends Expression<infer Cell> ? Cell : never;
};

/** The list after SELECT or RETURNING, which knows the type of its row. */
export class SelectList<Row> {
  /** Never set. It carries the type of the row. */
  declare readonly row?: Row;
  readonly #list: RawBuilder<unknown>;

  constructor(list: RawBuilder<unknown>) {
    this.#list = list;
  }

  toOperationNode() {
    return this.#list.toOperationNode();
  }
}

export function select<const C extends Cells>(cells: C): SelectList<RowOfCells<C>> {
  return new SelectList(
    sql.join(Object.entries(cells).map(([name, cell]) => sql`${cell} AS ${sql.id(name)}`)),
  );
}

type RowIn<Parts extends readonly unknown[]> = Parts extends readonly [infer First, ...infer Rest]
  ? First extends SelectList<infer Row>
    ? Row
    : RowIn<Rest>
  : never;

/** A whole statement as SQL text. Its rows have the type of the `select` list in it; without one it returns none. */
export function sqlStatement<const Parts extends readonly unknown[]>(
  texts: TemplateStringsArray,
  ...parts: Parts
): RawBuilder<RowIn<Parts>> {
  return sql(texts, ...parts);
}

type InsertCells<Name extends TableName> = {
  readonly [Column in keyof Insertable<Db[Name]>]: Expression<InsertType<Db[Name][Column & keyof Db[Name]]>>;
};

/** INSERT … SELECT with the expression of each column beside its name, so that their order cannot differ. */
export function insertFrom<Name extends TableName>(
  table: Name,
  cells: InsertCells<Name>,
  source: RawBuilder<unknown>,
): RawBuilder<never> {
  const entries = Object.entries<Expression<unknown>>(cells as Cells);
  const names = sql.join(entries.map(([column]) => sql.id(column)));
  return sql`INSERT INTO ${sql.table(table)} (${names}) SELECT ${sql.join(entries.map(([, cell]) => cell))} ${source}`;
}
