import {
  type Compilable,
  createQueryId,
  type DeleteResult,
  type Expression,
  type InsertResult,
  type RawBuilder,
  type RootOperationNode,
  sql,
  type UpdateResult,
} from 'kysely';
import type { Value } from '../contract/tables.js';
import type { Dialect, Kinds, Rows, Table } from '../dialect.js';
import type { BoundStatement } from '../statement.js';
import { builderFor, Parameter, type SqlBuilder } from './builder.js';
import { selectJsonCells } from './functions.js';

/** The values of the parameters of a statement, by parameter name. */
export type Values = Readonly<Record<string, Value | Table>>;
type ParameterValue<T> = T extends Table ? string : T;
/** The parameters of a statement as SQL expressions. A table is passed as the text of a JSON array. */
export type Params<Given> = { readonly [Name in keyof Given]-?: RawBuilder<ParameterValue<Given[Name]>> };

/** The fields of a row type as a plain type, which can be the values of a statement. An interface has no index signature. */
export type CellsOf<Row> = { readonly [Name in keyof Row]: Row[Name] };

/** A query of Kysely or an `sql` template. */
export type BuiltStatement = { toOperationNode: () => RootOperationNode } & (
  | Compilable
  | Expression<unknown>
);
type StatementResult = InsertResult | UpdateResult | DeleteResult;
/** The type of the rows of a built statement. `never` if it returns none. */
type RowOf<Built> =
  Built extends Compilable<infer Row>
    ? Exclude<Row, StatementResult>
    : Built extends Expression<infer Row>
      ? Exclude<Row, undefined>
      : never;

type NoValues = Readonly<Record<string, never>>;

/** A statement that was compiled for one engine. */
interface CompiledStatement<Given> {
  readonly text: string;
  readonly bind: (values: Given) => Value[];
}

/** A statement that is compiled once for each engine. Call it with values to get a statement that can be run. */
export interface PreparedStatement<Given extends Values, Row> {
  (...values: Given extends NoValues ? [] : [Given]): BoundStatement<Row>;
  /** The same as a call, for callers whose `Given` is a type parameter, with which TypeScript rejects a call. */
  readonly bindValues: (values: Given) => BoundStatement<Row>;
  readonly compileFor: (dialect: Dialect) => CompiledStatement<Given>;
}

/** The type of the rows that a prepared statement returns. */
export type ResultRow<Statement> = Statement extends PreparedStatement<never, infer Row> ? Row : never;

/** Creates an object that has a parameter for every name. It cannot be spread, because it does not know which names exist. */
function createParameters<Given>(): Params<Given>;
/** Returns a Proxy that makes an SQL parameter for any name. */
function createParameters(): object {
  return new Proxy(
    {},
    {
      get: (_, name) => sql.val(new Parameter(String(name))),
      ownKeys: () => {
        throw new TypeError('parameters of a statement cannot be spread: take each by its name');
      },
    },
  );
}

/**
 * Compiles a statement to SQL text and the names of its named parameters. All other values become literals in the text.
 */
function compileStatement({ db }: SqlBuilder, node: RootOperationNode): { text: string; names: string[] } {
  const compiled = db.getExecutor().compileQuery(node, createQueryId());
  const names = compiled.parameters.map(parameter => (parameter instanceof Parameter ? parameter.name : ''));
  return { text: compiled.sql, names };
}

/**
 * Prepares a statement. `build` is called once for each engine. The type of its rows is inferred from the columns that `build`
 * selects, so do not pass the second type argument.
 */
export function prepared<Given extends Values = NoValues, Built extends BuiltStatement = never>(
  build: (builder: SqlBuilder, params: Params<Given>) => Built,
): PreparedStatement<Given, RowOf<Built>> {
  const compileFor = cachePerDialect((dialect): CompiledStatement<Given> => {
    const builder = builderFor(dialect);
    const node = build(builder, createParameters<Given>()).toOperationNode();
    const { text, names } = compileStatement(builder, node);
    return {
      text,
      bind: values => names.map(name => toDriverValue(dialect, getValue<Value | Table>(values, name))),
    };
  });
  const bindValues = (values?: Given): BoundStatement<RowOf<Built>> => ({
    bind: dialect => {
      const { text, bind } = compileFor(dialect);
      return { text, values: values === undefined ? [] : bind(values) };
    },
  });
  return Object.assign((values?: Given) => bindValues(values), { bindValues, compileFor });
}

/** Returns a function that calls `create` once for each dialect and then returns the cached value. */
function cachePerDialect<T>(create: (dialect: Dialect) => T): (dialect: Dialect) => T {
  const cache = new Map<Dialect, T>();
  return dialect => {
    const value = cache.get(dialect) ?? create(dialect);
    cache.set(dialect, value);
    return value;
  };
}

/** Returns the value of a parameter. Throws if it is missing, because a driver would bind NULL. */
function getValue<V>(values: Readonly<Record<string, V>>, name: string): V {
  const value = values[name];
  if (value === undefined) throw new TypeError(`expected a value for the parameter "${name}", got undefined`);
  return value;
}

/** Converts rows that are passed as one parameter to JSON text, and returns other values unchanged. */
function toDriverValue(dialect: Dialect, value: Value | Table): Value {
  const isTable = typeof value === 'object' && value !== null && 'columns' in value;
  return isTable ? dialect.toJson(value) : value;
}

/**
 * Creates a function that takes rows and builds a statement that inserts them into a table. Each row has its values in the order of
 * `columns`.
 */
export function createInsertBuilder(table: string, columns: Kinds): (rows: Rows) => BoundStatement<never> {
  const names = Object.keys(columns);
  const target = sql`INSERT INTO ${sql.table(table)} (${sql.join(names.map(name => sql.id(name)))})`;
  const textFor = cachePerDialect(dialect => {
    const parameters = names.map(name => sql.val(new Parameter(name)));
    const json = sql.val(new Parameter('rows'));
    const source =
      dialect.engine === 'sqlite'
        ? sql`VALUES (${sql.join(parameters)})`
        : sql`SELECT ${selectJsonCells(columns)} FROM jsonb_array_elements(${json}::jsonb) AS e (v)`;
    const { db } = builderFor(dialect);
    return sql`${target} ${source}`.compile(db).sql;
  });
  return rows => ({
    bind: dialect => ({ text: textFor(dialect), ...dialect.bindRows({ columns, rows }) }),
  });
}
