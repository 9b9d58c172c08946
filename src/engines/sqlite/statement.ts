import {
  type Compilable,
  DummyDriver,
  Kysely,
  type RawBuilder,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import type { Sqlite } from './open.js';

type Value = string | number | bigint | null | Uint8Array;

/** A query compiled by Kysely once, prepared once and run synchronously. */
export interface Statement<Parameters extends Record<string, Value>, Row> {
  run(parameters: Parameters): number;
  get(parameters: Parameters): Row | undefined;
  all(parameters: Parameters): Row[];
  iterate(parameters: Parameters): IterableIterator<Row>;
}

/** Kysely as a typed writer of SQL; it never touches a connection. */
export function createQueries<Tables>(): Kysely<Tables> {
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: db => new SqliteIntrospector(db),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
}

/** A place in a query that is filled by name each time it runs. */
export function parameter<T extends Value>(name: string): RawBuilder<T> {
  return sql<T>`${new Placeholder(name)}`;
}

export function statement<Parameters extends Record<string, Value>, Row = never>(
  db: Sqlite,
  query: Compilable<Row>,
): Statement<Parameters, Row> {
  const compiled = query.compile();
  const prepared = db.prepare<unknown[], Row>(compiled.sql);
  const bind = (parameters: Parameters): unknown[] =>
    compiled.parameters.map(value => (value instanceof Placeholder ? value.fill(parameters) : value));
  return {
    run: parameters => prepared.run(bind(parameters)).changes,
    get: parameters => prepared.get(bind(parameters)),
    all: parameters => prepared.all(bind(parameters)),
    iterate: parameters => prepared.iterate(bind(parameters)),
  };
}

class Placeholder {
  readonly #name: string;

  constructor(name: string) {
    this.#name = name;
  }

  /** An undefined value would be bound as NULL in silence. */
  fill(parameters: Record<string, Value>): Value {
    const value = parameters[this.#name];
    if (value === undefined)
      throw new TypeError(`expected a value for the parameter "${this.#name}", got undefined`);
    return value;
  }
}
