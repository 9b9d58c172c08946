import {
  assertCurrentSchema,
  requireKnownSchemaVersion,
  computeDigest,
  type DatabaseName,
  type Migration,
  listMigrations,
  type SchemaState,
} from '../migrations.js';
import { INSERT_APPLIED, LIST_APPLIED } from '../applied-migrations.js';
import { withDatabase, openDatabase, type Sqlite, runInTransaction } from './open-database.js';
import { prepareOn } from './database.js';

/** How long to wait while another process migrates. */
const MIGRATION_LOCK_MS = 60_000;
/** The mirror has wide rows and large commits. The others commit a row or two and write a whole page for each. */
const PAGE_BYTES: Readonly<Record<DatabaseName, number>> = {
  inbox: 4096,
  mirror: 8192,
  evidence: 4096,
  events: 4096,
};

/**
 * Applies the missing migrations and returns their names. Each runs in a transaction that rereads the version first. Several
 * processes may therefore migrate at once, and a crash leaves no partial migration.
 */
export function migrate(
  db: Sqlite,
  database: DatabaseName,
  now: string,
  migrations: readonly Migration[] = listMigrations('sqlite', database),
): string[] {
  if (requireKnownSchemaVersion(readSchemaState(db), migrations) === migrations.length) return [];
  runInTransaction(db, () => db.exec(CREATE_RECORDS_TABLE));
  return migrations
    .filter(each => runInTransaction(db, () => applyMigration(db, each, migrations, now)))
    .map(({ name }) => name);
}

/** Migrates a database file on a connection of its own, and creates the file if needed. Waits up to a minute for a lock. */
export function migrateFile(file: string, database: DatabaseName, now: string): string[] {
  const options = { busyTimeoutMs: MIGRATION_LOCK_MS, newPageBytes: PAGE_BYTES[database] };
  return withDatabase(openDatabase(file, options), db => migrate(db, database, now));
}

/** Creates the schema of an empty database with all migrations, but does not record that they were applied. */
export function createSchema(db: Sqlite, database: DatabaseName): void {
  db.exec(CREATE_RECORDS_TABLE);
  for (const { sql } of listMigrations('sqlite', database)) db.exec(sql);
}

/** Returns the schema version; 0 if the database was never migrated. */
export function readSchemaVersion(db: Sqlite): number {
  return Number(db.pragma('user_version', { simple: true }));
}

/** Throws unless the schema is the one that this program needs. */
export function assertMigrated(db: Sqlite, database: DatabaseName): void {
  assertCurrentSchema(readSchemaState(db), listMigrations('sqlite', database));
}

/** Reads the version and the applied migrations of a database. */
function readSchemaState(db: Sqlite): SchemaState {
  const version = readSchemaVersion(db);
  // On SQLite the statement is the same for each database.
  const records = version === 0 ? [] : prepareOn(db, LIST_APPLIED.inbox).all({});
  return { label: db.name, version, records, advice: 'move the folder it is in away and start again.' };
}

const CREATE_RECORDS_TABLE = `CREATE TABLE IF NOT EXISTS schema_migrations (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  applied_at TEXT NOT NULL,
  digest TEXT NOT NULL
) STRICT`;

/**
 * Applies a migration and records it, in the transaction of the caller. Returns false if it was applied before, and throws if the
 * recorded migrations do not agree with `migrations`.
 */
function applyMigration(
  db: Sqlite,
  migration: Migration,
  migrations: readonly Migration[],
  now: string,
): boolean {
  const { version, name, sql } = migration;
  if (requireKnownSchemaVersion(readSchemaState(db), migrations) >= version) return false;
  db.exec(sql);
  prepareOn(db, INSERT_APPLIED.inbox).all({
    version,
    name,
    appliedAt: now,
    digest: computeDigest(migration),
  });
  db.pragma(`user_version = ${version}`);
  return true;
}
