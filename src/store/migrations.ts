import { createHash } from 'node:crypto';
import { events0001 } from '../../migrations/events/0001.js';
import { evidence0001 } from '../../migrations/evidence/0001.js';
import { inbox0001 } from '../../migrations/inbox/0001.js';
import { mirror0001 } from '../../migrations/mirror/0001.js';
import {
  type Dialect,
  type Kind,
  type Part,
  POSTGRES,
  type Relation,
  SQLITE,
} from '../../migrations/schema.js';
import { StoreError } from './store-error.js';

/** The databases of the program. Each is a file on SQLite and a schema on PostgreSQL. */
export const DATABASE_NAMES = ['inbox', 'mirror', 'evidence', 'events'] as const;
export type DatabaseName = (typeof DATABASE_NAMES)[number];

/** A change of the schema of one database. */
export interface Migration {
  readonly version: number;
  readonly name: string;
  /** A getter that builds the SQL, because most callers need only the name. */
  readonly sql: string;
}

export type EngineName = Dialect['engine'];
type MigrationSource = readonly [name: string, build: (engine: EngineName) => Part];

const DIALECTS: Readonly<Record<EngineName, Dialect>> = { sqlite: SQLITE, postgres: POSTGRES };

/** The migrations of each database in order. The version is the position, counted from 1. */
const MIGRATIONS: Readonly<Record<DatabaseName, readonly MigrationSource[]>> = {
  inbox: [['0001-inbox', inbox0001]],
  mirror: [['0001-mirror', mirror0001]],
  evidence: [['0001-evidence', evidence0001]],
  events: [['0001-events', events0001]],
};

/** Returns the migrations of one database in order, with the SQL for an engine. */
export function listMigrations(engine: EngineName, database: DatabaseName): Migration[] {
  return MIGRATIONS[database].map(([name, build], index) => ({
    version: index + 1,
    name,
    get sql() {
      return build(engine).textOf(DIALECTS[engine]);
    },
  }));
}

/** Returns the tables and views that the migrations of a database create, with their column types. */
export function listRelations(engine: EngineName, database: DatabaseName): readonly Relation[] {
  return mergeRelations(MIGRATIONS[database].map(([, build]) => build(engine)));
}

/** Returns the tables and views of migrations in the order of their creation, each as its last migration defines it. */
export function mergeRelations(migrations: readonly Part[]): readonly Relation[] {
  const relations = migrations.flatMap(part => part.relations);
  return [...new Map(relations.map(relation => [relation.name, relation])).values()];
}

/** Returns the SQL type that columns of a kind have on an engine. */
export function getColumnType(engine: EngineName, kind: Kind): string {
  return DIALECTS[engine].dataTypes[kind];
}

/** A database's record of an applied migration. Unreleased programs stored no digest. */
export interface AppliedMigration {
  readonly version: number;
  readonly digest?: string;
}

/** Computes the SHA-256 of a migration's SQL. */
export function computeDigest({ sql }: Migration): string {
  return createHash('sha256').update(sql).digest('hex');
}

/** The schema of a database, according to the migrations that it records as applied. */
export interface SchemaState {
  /** The name of the database in messages, such as `the schema mirror`. */
  readonly label: string;
  /** The version of the last migration; 0 if the database was never migrated. */
  readonly version: number;
  readonly records: readonly AppliedMigration[];
  /** Advice for a database that an unreleased program created. */
  readonly advice: string;
}

/**
 * Returns the schema version of a database: the number of its last migration, or 0 if it was never migrated. Throws if the database was
 * migrated by a newer release of this program, or by an unreleased development version of it.
 */
export function requireKnownSchemaVersion(
  { label, version, records, advice }: SchemaState,
  migrations: readonly Migration[],
): number {
  const differsFromRecord = (migration: Migration) =>
    records.some(
      ({ version: applied, digest }) => applied === migration.version && digest !== computeDigest(migration),
    );
  if (migrations.some(differsFromRecord))
    throw new StoreError(
      'earlier',
      `${label} was made by an earlier carbon-mirror that was never released: ${advice}`,
    );
  if (version <= migrations.length) return version;
  throw new StoreError(
    'newer',
    `${label} has version ${version}, but this program knows only ${migrations.length}: it was written by a newer ` +
      'carbon-mirror. Start that version, or restore a backup made before it.',
  );
}

/**
 * Throws unless all migrations of this program are applied to a database. Called by processes that do not migrate it
 * themselves.
 */
export function assertCurrentSchema(state: SchemaState, migrations: readonly Migration[]): void {
  const version = requireKnownSchemaVersion(state, migrations);
  if (version < migrations.length)
    throw new StoreError(
      'older',
      `${state.label} has version ${version}, this program needs ${migrations.length}: run "carbon-mirror migrate" first`,
    );
}
