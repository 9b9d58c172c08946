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

/** Writes constants into the SQL text, so that partial indexes are found. Only parameters are bound. */
class PostgresCompiler extends PostgresQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (value instanceof Parameter) super.appendValue(value);
    else this.appendImmediateValue(value);
  }
}

/** Omits schema names, because each schema is a file of its own, and row locks, because SQLite has one writer at a time. */
class SqliteCompiler extends SqliteQueryCompiler {
  protected override visitSchemableIdentifier({ identifier }: SchemableIdentifierNode): void {
    this.visitNode(identifier);
  }

  protected override appendValue(value: unknown): void {
    if (value instanceof Parameter) super.appendValue(value);
    else this.appendImmediateValue(value);
  }

  /** SQLite prepares a statement anew at each use if its LIMIT is a plain parameter; a cast avoids that. */
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

/** Builds and compiles statements for one engine. */
export interface SqlBuilder {
  /** Has no connection: it builds and compiles only. */
  readonly db: Kysely<Db>;
  readonly fn: SqlFunctions;
}

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

export function builderFor({ engine }: Dialect): SqlBuilder {
  return BUILDERS[engine];
}

/** Builds queries for readers. A reader compiles them for its engine and binds their values. */
export const queryBuilder: Kysely<Db> = BUILDERS.postgres.db;
