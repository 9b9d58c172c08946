import type { Bound, Dialect, Kinds, Rows, Table, Value } from './dialect.js';

type Values = Readonly<Record<string, Value | Table>>;
type Text = string | ((dialect: Dialect) => string);

/** A statement with all that it is given, and the rows that it answers. */
export interface Asked<Row = unknown> {
  readonly text: Text;
  readonly values: Values;
  /** It puts these into a table. */
  readonly rows?: Table;
  readonly answers?: Row[];
}

/** One text for both engines: each `@name` is filled by that name, and tables are named as in `mirror.origin`. */
export function statement<Given extends Values, Row = never>(text: Text): (given: Given) => Asked<Row> {
  return values => ({ text, values });
}

/** One that is given nothing. */
export function fixed<Row = never>(text: Text): Asked<Row> {
  return { text, values: {} };
}

/** Whole rows into a table; `more` is what follows in SQL. */
export function insertion(table: string, columns: Kinds, more = ''): (rows: Rows) => Asked {
  const text = (dialect: Dialect) => dialect.insertion(table, columns, more);
  return rows => ({ text, values: {}, rows: { columns, rows } });
}

export type Answers<All extends readonly (Asked | null)[]> = {
  -readonly [Each in keyof All]: All[Each] extends Asked<infer Row> | null ? Row[] : never;
};

/** Statements one after the other in one message: none needs what another answers, and null is none. */
export type Batch = <const All extends readonly (Asked | null)[]>(...all: All) => Promise<Answers<All>>;

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
export function compile(dialect: Dialect, source: Text) {
  const names: string[] = [];
  const text = (typeof source === 'string' ? source : source(dialect))
    .replaceAll(PLACE, (_, name: string) => dialect.place(names.push(name)))
    .replaceAll('mirror.', dialect.mirror)
    .replaceAll('inbox.', dialect.inbox);
  return { text, names };
}

/** Compiles each text once. */
export function createBinder(dialect: Dialect): (asked: Asked) => Bound {
  const known = new Map<Text, ReturnType<typeof compile>>();
  return ({ text: source, values, rows }) => {
    const compiled = known.get(source) ?? compile(dialect, source);
    known.set(source, compiled);
    const { text, names } = compiled;
    if (rows !== undefined) return { text, ...dialect.bindRows(rows) };
    const bound = (name: string): Value => {
      const value = valueOf(values, name);
      return isTable(value) ? dialect.json(value) : value;
    };
    return { text, values: names.map(bound) };
  };
}

/** An undefined value would be bound as NULL in silence. */
export function valueOf<V>(values: Readonly<Record<string, V>>, name: string): V {
  const value = values[name];
  if (value === undefined) throw new TypeError(`expected a value for the parameter "${name}", got undefined`);
  return value;
}

function isTable(value: Value | Table): value is Table {
  return typeof value === 'object' && value !== null && 'columns' in value;
}
