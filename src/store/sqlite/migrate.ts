import {
  areOurs,
  digestOf,
  type Family,
  type Migration,
  type Recorded,
  migrationsOf,
} from '../migrations.js';
import { DatabaseError } from './errors.js';
import { closing, openDatabase, type Sqlite, write } from './open.js';

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
  if (knownVersion(db, family, migrations) === migrations.length) return [];
  write(db, () => db.exec(RECORDS));
  const isNew = (migration: Migration) => apply(db, family, migration, migrations, now);
  return migrations.filter(isNew).map(({ name }) => name);
}

/** Migrate on a connection of its own, which waits longer for a lock than a receiver may. */
export function migrateFile(file: string, family: Family, now: string): string[] {
  const options = { busyTimeoutMs: MIGRATION_LOCK_MS, newPageBytes: PAGE_BYTES[family] };
  return closing(openDatabase(file, options), db => migrate(db, family, now));
}

/** 0 for a database that has never been migrated. */
export function schemaVersion(db: Sqlite): number {
  return Number(db.pragma('user_version', { simple: true }));
}

/** For readers, which never migrate: say what to do when the file's schema is not the program's. */
export function demandSchema(db: Sqlite, family: Family): void {
  const migrations = migrationsOf('sqlite', family);
  const version = knownVersion(db, family, migrations);
  if (version < migrations.length) {
    throw new DatabaseError(
      'schema',
      `${family}.db`,
      `${family}.db has schema ${version}, this program needs ${migrations.length}: run "carbon-mirror migrate" first`,
    );
  }
}

function knownVersion(db: Sqlite, family: Family, migrations: readonly Migration[]): number {
  const version = schemaVersion(db);
  if (version === 0) return 0;
  if (!areOurs(db.prepare<[], Recorded>('SELECT * FROM schema_migrations').all(), migrations)) {
    throw new DatabaseError(
      'earlier',
      db.name,
      `${db.name} was made by an earlier carbon-mirror that was never released: move the folder it is in away and start again.`,
    );
  }
  if (version > migrations.length) throw newerSchema(family, version, migrations.length);
  return version;
}

const RECORDS = `CREATE TABLE IF NOT EXISTS schema_migrations (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  applied_at TEXT NOT NULL,
  digest TEXT NOT NULL
) STRICT`;

function apply(
  db: Sqlite,
  family: Family,
  migration: Migration,
  migrations: readonly Migration[],
  now: string,
): boolean {
  return write(db, () => {
    if (knownVersion(db, family, migrations) >= migration.version) return false;
    db.exec(migration.sql);
    db.prepare('INSERT INTO schema_migrations (version, name, applied_at, digest) VALUES (?, ?, ?, ?)').run(
      migration.version,
      migration.name,
      now,
      digestOf(migration),
    );
    db.pragma(`user_version = ${migration.version}`);
    return true;
  });
}

function newerSchema(family: Family, version: number, newest: number): DatabaseError {
  return new DatabaseError(
    'schema',
    `${family}.db`,
    `${family}.db has schema ${version}, but this program knows only ${newest}: ` +
      'it was written by a newer carbon-mirror. Start that version, or restore a backup made before it.',
  );
}
