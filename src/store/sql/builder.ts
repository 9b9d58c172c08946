import {
  DummyDriver,
  Kysely,
  type LimitNode,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryCompiler,
  type SchemableIdentifierNode,
  type SelectModifierNode,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Db } from '../contract/tables.js';
import type { Dialect } from '../dialect.js';
import { POSTGRES_FUNCTIONS, SQLITE_FUNCTIONS, type SqlFunctions } from './functions.js';

/** A parameter of a prepared statement, which gets a value each time the statement is bound. */
export class Parameter {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

/** Writes constants into the SQL text, so that PostgreSQL can use partial indexes. Binds only parameters. */
class PostgresCompiler extends PostgresQueryCompiler {
  /** Appends a value to the SQL text. Binds it if it is a `Parameter`, and writes any other value as a literal. */
  protected override appendValue(value: unknown): void {
    if (value instanceof Parameter) super.appendValue(value);
    else this.appendImmediateValue(value);
  }
}

/** Omits schema names, because each schema is a separate file. Omits row locks, because SQLite has one writer at a time. */
class SqliteCompiler extends SqliteQueryCompiler {
  /** Omits the schema name of a table or another object. */
  protected override visitSchemableIdentifier({ identifier }: SchemableIdentifierNode): void {
    this.visitNode(identifier);
  }

  /** Appends a value to the SQL text. Binds it if it is a `Parameter`, and writes any other value as a literal. */
  protected override appendValue(value: unknown): void {
    if (value instanceof Parameter) super.appendValue(value);
    else this.appendImmediateValue(value);
  }

  /** Casts the LIMIT to an integer. If a LIMIT is a parameter without a cast, SQLite recompiles the statement at each run. */
  protected override visitLimit({ limit }: LimitNode): void {
    this.append('limit cast(');
    this.visitNode(limit);
    this.append(' as integer)');
  }

  /** Keeps DISTINCT and omits row locks. */
  protected override visitSelectModifier(node: SelectModifierNode): void {
    if (node.modifier === 'Distinct') super.visitSelectModifier(node);
  }
}

/** The tools to build and compile statements for one engine. */
export interface SqlBuilder {
  /** Builds and compiles statements. It has no connection to run them. */
  readonly db: Kysely<Db>;
  readonly fn: SqlFunctions;
}

/** Creates an `SqlBuilder`, which compiles statements without a connection. It writes SQL for the engine whose SQL functions are `fn`. */
function createBuilder(fn: SqlFunctions, createQueryCompiler: () => QueryCompiler): SqlBuilder {
  const isSqlite = fn === SQLITE_FUNCTIONS;
  const db = new Kysely<Db>({
    dialect: {
      createAdapter: () => (isSqlite ? new SqliteAdapter() : new PostgresAdapter()),
      createDriver: () => new DummyDriver(),
      createIntrospector: kysely =>
        isSqlite ? new SqliteIntrospector(kysely) : new PostgresIntrospector(kysely),
      createQueryCompiler,
    },
  });
  return { db, fn };
}

const BUILDERS = {
  sqlite: createBuilder(SQLITE_FUNCTIONS, () => new SqliteCompiler()),
  postgres: createBuilder(POSTGRES_FUNCTIONS, () => new PostgresCompiler()),
};

/** Returns the builder of an engine. */
export function builderFor({ engine }: Dialect): SqlBuilder {
  return BUILDERS[engine];
}

/** Builds queries for a `Reader`, which compiles them for its engine and binds their values. */
export const queryBuilder: Kysely<Db> = BUILDERS.postgres.db;
