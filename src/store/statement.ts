import type { Bound, Dialect, Table, Value } from './dialect.js';

export type Values = Readonly<Record<string, Value | Table>>;
type Text = string | ((dialect: Dialect) => string);

/** A statement with its values, for either engine. `Row` is the type of the rows that it returns. */
export interface BoundStatement<Row = unknown> {
  readonly bind: (dialect: Dialect) => Bound;
  /** Never set. It carries the type of the rows. */
  readonly rows?: Row[];
}

/** One text for both engines: each `@name` is filled by that name, and tables are named as in `mirror.origin`. */
export function statement<Given extends Values, Row = never>(
  text: Text,
): (given: Given) => BoundStatement<Row> {
  const compileFor = oncePerDialect(dialect => compile(dialect, text));
  return values => ({
    bind: dialect => {
      const compiled = compileFor(dialect);
      return {
        text: compiled.text,
        values: compiled.names.map(name => toCell(dialect, valueOf(values, name))),
      };
    },
  });
}

/** One that is given nothing. */
export function fixed<Row = never>(text: Text): BoundStatement<Row> {
  return statement<Values, Row>(text)({});
}

export type BatchResults<All extends readonly (BoundStatement | null)[]> = {
  -readonly [Each in keyof All]: All[Each] extends BoundStatement<infer Row> | null ? Row[] : never;
};

/** Runs statements in order, in one message, and returns the rows of each. No statement can use the rows of another. Skips null. */
export type Batch = <const All extends readonly (BoundStatement | null)[]>(
  ...all: All
) => Promise<BatchResults<All>>;

type NamedStatements = Readonly<Record<string, BoundStatement | null>>;
type NamedResults<All extends NamedStatements> = {
  readonly [Name in keyof All]: All[Name] extends BoundStatement<infer Row> | null ? Row[] : never;
};

/** Runs a batch and returns the rows of each statement by its name. */
export function batchByName<const All extends NamedStatements>(
  batch: Batch,
  statements: All,
): Promise<NamedResults<All>>;
export async function batchByName(batch: Batch, statements: NamedStatements): Promise<object> {
  const results = await batch(...Object.values(statements));
  return Object.fromEntries(Object.keys(statements).map((name, index) => [name, results[index]]));
}

/** Where statements of both engines are done. */
export interface Database {
  readonly dialect: Dialect;
  /** What only looks: it waits for no writer. */
  readonly look: Batch;
  /** All of it or nothing, after every transaction that was asked for before. Nothing slow is awaited inside. */
  readonly transact: <T>(work: (batch: Batch) => Promise<T>) => Promise<T>;
}

const PLACE = /@(\w+)/g;

/** Each `@name` becomes a place, which is filled by that name. */
function compile(dialect: Dialect, source: Text) {
  const names: string[] = [];
  const text = (typeof source === 'string' ? source : source(dialect))
    .replaceAll(PLACE, (_, name: string) => dialect.place(names.push(name)))
    .replaceAll('mirror.', dialect.mirror)
    .replaceAll('inbox.', dialect.inbox);
  return { text, names };
}

/** Caches a value for each dialect, from the first use on. */
export function oncePerDialect<T>(create: (dialect: Dialect) => T): (dialect: Dialect) => T {
  const cache = new Map<Dialect, T>();
  return dialect => {
    const value = cache.get(dialect) ?? create(dialect);
    cache.set(dialect, value);
    return value;
  };
}

/** Returns the value of a parameter. A missing value is an error, because a driver would bind it as NULL. */
export function valueOf<V>(values: Readonly<Record<string, V>>, name: string): V {
  const value = values[name];
  if (value === undefined) throw new TypeError(`expected a value for the parameter "${name}", got undefined`);
  return value;
}

/** Returns a value as a driver takes it: rows become JSON. */
export function toCell(dialect: Dialect, value: Value | Table): Value {
  const isTable = typeof value === 'object' && value !== null && 'columns' in value;
  return isTable ? dialect.json(value) : value;
}
