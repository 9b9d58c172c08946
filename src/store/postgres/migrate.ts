import {
  areOurs,
  digestOf,
  FAMILIES,
  type Family,
  type Migration,
  type Recorded,
  migrationsOf,
} from '../migrations.js';
import { PostgresError } from './errors.js';
import type { Postgres, Query } from './open.js';

/** One lock for all who migrate a database of ours, whatever else they lock. */
const LOCK = 7_261_003_415;

/**
 * Bring a database to the program's schema; answers the names of the migrations applied. Each and its record share one
 * transaction, and the version is read under a lock, so that many processes may do this at once. Where one schema is not
 * for this program, neither is changed.
 */
export async function migrate(
  postgres: Postgres,
  now: string,
  given: (family: Family) => readonly Migration[] = family => migrationsOf('postgres', family),
): Promise<string[]> {
  const applied: string[] = [];
  for (const family of FAMILIES) await knownVersionOf(postgres.query, family, given(family));
  for (const family of FAMILIES) {
    const migrations = given(family);
    for (const migration of migrations) {
      const isNew = await postgres.transact(query => apply(query, family, migration, migrations, now));
      if (isNew) applied.push(`${family}/${migration.name}`);
    }
  }
  return applied;
}

/** For those who never migrate: say what to do when the schema is not the program's. */
export async function demandSchema({ query }: Postgres, family: Family): Promise<void> {
  const migrations = migrationsOf('postgres', family);
  const version = await knownVersionOf(query, family, migrations);
  if (version < migrations.length) {
    throw new PostgresError(
      'older',
      `the schema ${family} has version ${version}, this program needs ${migrations.length}: run "carbon-mirror migrate" first`,
    );
  }
  const moving = `SELECT 1 FROM ${family}.schema_migrations WHERE version = 0`;
  if (family === 'mirror' && (await query(moving)).length > 0) {
    throw new PostgresError(
      'unfinished',
      'files are being moved into this database, or were and did not all arrive: run "carbon-mirror move --to postgres" again',
    );
  }
}

async function apply(
  query: Query,
  family: Family,
  migration: Migration,
  migrations: readonly Migration[],
  now: string,
): Promise<boolean> {
  await query("SET LOCAL lock_timeout = '60s'");
  await query('SELECT pg_advisory_xact_lock($1)', [LOCK]);
  await demandUtf8(query);
  const version = await knownVersionOf(query, family, migrations);
  if (version >= migration.version) return false;
  await makeSchema(query, family);
  await query(records(family));
  await query(migration.sql);
  await query(
    `INSERT INTO ${family}.schema_migrations (version, name, applied_at, digest) VALUES ($1, $2, $3, $4)`,
    [migration.version, migration.name, now, digestOf(migration)],
  );
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
  applied_at timestamptz(3) NOT NULL,
  digest text COLLATE "C" NOT NULL
)`;

/** 0 where there is no such schema, or an empty one. */
async function knownVersionOf(
  query: Query,
  family: Family,
  migrations: readonly Migration[],
): Promise<number> {
  const applied = await recordsOf(query, family);
  if (!areOurs(applied, migrations)) {
    throw new PostgresError(
      'schema',
      `the schema ${family} was made by an earlier carbon-mirror that was never released: ` +
        'drop or rename the schemas inbox, mirror and evidence, and run "carbon-mirror migrate" again',
    );
  }
  const version = Math.max(0, ...applied.map(record => record.version));
  if (version > migrations.length) throw newerSchema(family, version, migrations.length);
  return version;
}

async function recordsOf(query: Query, family: Family): Promise<readonly Recorded[]> {
  const [found] = await query<{ relations: number; is_ours: boolean }>(
    `SELECT (SELECT count(*) FROM pg_catalog.pg_class AS c
         JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1::text) AS relations,
       (SELECT count(*) = 3 FROM pg_catalog.pg_attribute
         WHERE attrelid = to_regclass($1::text || '.schema_migrations') AND attname IN ('version', 'name', 'applied_at')
       ) AS is_ours`,
    [family],
  );
  if (found === undefined || found.relations === 0) return [];
  if (!found.is_ours) {
    throw new PostgresError(
      'foreign',
      `the database has a schema "${family}" that is not carbon-mirror's: give it a database of its own`,
    );
  }
  return await query<Recorded>(`SELECT * FROM ${family}.schema_migrations`);
}

function newerSchema(family: Family, version: number, newest: number): PostgresError {
  return new PostgresError(
    'schema',
    `the schema ${family} has version ${version}, but this program knows only ${newest}: it was written by a newer ` +
      'carbon-mirror. Start that version, or restore a backup made before it.',
  );
}
