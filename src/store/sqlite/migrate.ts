import {
  assertCurrentSchema,
  assertOwnSchema,
  computeDigest,
  type Family,
  type Migration,
  migrationsOf,
  type SchemaState,
} from '../migrations.js';
import { INSERT_APPLIED, LIST_APPLIED } from '../applied-migrations.js';
import { closing, openDatabase, type Sqlite, write } from './open-database.js';
import { prepareOn } from './database.js';

/** As long as another process may take to migrate before this one gives up. */
const MIGRATION_LOCK_MS = 60_000;
/** A mirror's rows are wide, and its commits long; an inbox commits a row or two, and writes a page for each. */
const PAGE_BYTES: Readonly<Record<Family, number>> = { inbox: 4096, mirror: 8192, evidence: 4096 };

/**
 * Bring a database to the program's schema; answers the names of the migrations applied.
 * Each and its record share one transaction, and the version is read inside it,
 * so that several processes may do this at once and a crash leaves the old schema or the new one.
 */
export function migrate(
  db: Sqlite,
  family: Family,
  now: string,
  migrations: readonly Migration[] = migrationsOf('sqlite', family),
): string[] {
  if (assertOwnSchema(readSchemaState(db), migrations) === migrations.length) return [];
  write(db, () => db.exec(RECORDS));
  return migrations.filter(each => write(db, () => apply(db, each, migrations, now))).map(({ name }) => name);
}

/** Migrate on a connection of its own, which waits longer for a lock than a receiver may. */
export function migrateFile(file: string, family: Family, now: string): string[] {
  const options = { busyTimeoutMs: MIGRATION_LOCK_MS, newPageBytes: PAGE_BYTES[family] };
  return closing(openDatabase(file, options), db => migrate(db, family, now));
}

/** Makes the schema of this program in a database that is empty. */
export function migrateNew(db: Sqlite, family: Family): void {
  db.exec(RECORDS);
  for (const { sql } of migrationsOf('sqlite', family)) db.exec(sql);
}

/** 0 for a database that has never been migrated. */
export function schemaVersion(db: Sqlite): number {
  return Number(db.pragma('user_version', { simple: true }));
}

export function demandSchema(db: Sqlite, family: Family): void {
  assertCurrentSchema(readSchemaState(db), migrationsOf('sqlite', family));
}

function readSchemaState(db: Sqlite): SchemaState {
  const version = schemaVersion(db);
  // On SQLite the statement is the same for each family.
  const records = version === 0 ? [] : prepareOn(db, LIST_APPLIED.inbox).all({});
  return { where: db.name, version, records, aside: 'move the folder it is in away and start again.' };
}

const RECORDS = `CREATE TABLE IF NOT EXISTS schema_migrations (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  applied_at TEXT NOT NULL,
  digest TEXT NOT NULL
) STRICT`;

function apply(db: Sqlite, migration: Migration, migrations: readonly Migration[], now: string): boolean {
  const { version, name, sql } = migration;
  if (assertOwnSchema(readSchemaState(db), migrations) >= version) return false;
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
