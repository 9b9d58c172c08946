import { type Family, type Migration, readNumbered } from '../migrations.js';
import { PostgresError } from './errors.js';
import type { Postgres, Query } from './open.js';

const FAMILIES: readonly Family[] = ['inbox', 'mirror'];
/** One lock for all who migrate a database of ours, whatever else they lock. */
const LOCK = 7_261_003_415;

/** The numbered files of one schema, in order. */
export function readMigrations(family: Family): Migration[] {
  return readNumbered(`migrations/postgres/${family}/`);
}

/**
 * Bring a database to the program's schema; answers the names of the files applied. Each file and its record share one
 * transaction, and the version is read under a lock, so that many processes may do this at once. Where one schema is not
 * for this program, neither is changed.
 */
export async function migrate(
  postgres: Postgres,
  now: string,
  migrationsOf: (family: Family) => readonly Migration[] = readMigrations,
): Promise<string[]> {
  const applied: string[] = [];
  for (const family of FAMILIES) await knownVersionOf(postgres.query, family, migrationsOf(family).length);
  for (const family of FAMILIES) {
    for (const migration of migrationsOf(family)) {
      const newest = migrationsOf(family).length;
      const isNew = await postgres.transact(query => apply(query, family, migration, newest, now));
      if (isNew) applied.push(`${family}/${migration.name}`);
    }
  }
  return applied;
}

/** For those who never migrate: say what to do when the schema is not the program's. */
export async function demandSchema({ query }: Postgres, family: Family): Promise<void> {
  const newest = readMigrations(family).length;
  const version = await knownVersionOf(query, family, newest);
  if (version < newest) {
    throw new PostgresError(
      'older',
      `the schema ${family} has version ${version}, this program needs ${newest}: run "carbon-mirror migrate" first`,
    );
  }
}

async function apply(
  query: Query,
  family: Family,
  migration: Migration,
  newest: number,
  now: string,
): Promise<boolean> {
  await query("SET LOCAL lock_timeout = '60s'");
  await query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
  await demandUtf8(query);
  const version = await knownVersionOf(query, family, newest);
  if (version >= migration.version) return false;
  await makeSchema(query, family);
  await query(records(family));
  await query(migration.sql);
  await query(`INSERT INTO ${family}.schema_migrations (version, name, applied_at) VALUES ($1, $2, $3)`, [
    migration.version,
    migration.name,
    now,
  ]);
  return true;
}

/** Whoever owns the schema may not be allowed to make one, not even where it is there. */
async function makeSchema(query: Query, family: Family): Promise<void> {
  const found = await query('SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = $1', [family]);
  if (found.length === 0) await query(`CREATE SCHEMA ${family}`);
}

async function demandUtf8(query: Query): Promise<void> {
  const [row] = await query<{ encoding: string }>("SELECT current_setting('server_encoding') AS encoding");
  if (row?.encoding === 'UTF8') return;
  throw new PostgresError(
    'encoding',
    `the database has the encoding ${row?.encoding}, carbon-mirror needs UTF8: create it with ENCODING 'UTF8'`,
  );
}

const records = (family: Family): string => `CREATE TABLE IF NOT EXISTS ${family}.schema_migrations (
  version bigint PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  applied_at timestamptz(3) NOT NULL
)`;

async function knownVersionOf(query: Query, family: Family, newest: number): Promise<number> {
  const version = await versionOf(query, family);
  if (version > newest) throw newerSchema(family, version, newest);
  return version;
}

/** 0 where there is no such schema, or an empty one. */
async function versionOf(query: Query, family: Family): Promise<number> {
  const [found] = await query<{ relations: number; is_ours: boolean }>(
    `SELECT (SELECT count(*) FROM pg_catalog.pg_class AS c
         JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1::text) AS relations,
       (SELECT count(*) = 3 FROM pg_catalog.pg_attribute
         WHERE attrelid = to_regclass($1::text || '.schema_migrations') AND attname IN ('version', 'name', 'applied_at')
       ) AS is_ours`,
    [family],
  );
  if (found === undefined || found.relations === 0) return 0;
  if (!found.is_ours) {
    throw new PostgresError(
      'foreign',
      `the database has a schema "${family}" that is not carbon-mirror's: give it a database of its own`,
    );
  }
  const [row] = await query<{ version: number }>(
    `SELECT coalesce(max(version), 0) AS version FROM ${family}.schema_migrations`,
  );
  return row?.version ?? 0;
}

function newerSchema(family: Family, version: number, newest: number): PostgresError {
  return new PostgresError(
    'schema',
    `the schema ${family} has version ${version}, but this program knows only ${newest}: it was written by a newer ` +
      'carbon-mirror. Start that version, or restore a backup made before it.',
  );
}
