import {
  demandCurrent,
  demandOurs,
  digestOf,
  FAMILIES,
  type Family,
  type Migration,
  migrationsOf,
  type Recorded,
  type Standing,
} from '../migrations.js';
import { StoreError } from '../errors.js';
import type { Postgres, Query } from './open.js';

/** One lock for all who migrate a database of ours, whatever else they lock. */
const LOCK = 7_261_003_415;
/** Stands among the versions until all files have been moved into the database. */
export const MOVING = 0;

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
  for (const family of FAMILIES) demandOurs(await standingOf(postgres.query, family), given(family));
  for (const family of FAMILIES) {
    const migrations = given(family);
    for (const migration of migrations) {
      const isNew = await postgres.transact(query => apply(query, family, migration, migrations, now));
      if (isNew) applied.push(`${family}/${migration.name}`);
    }
  }
  return applied;
}

export async function demandSchema({ query }: Postgres, family: Family): Promise<void> {
  demandCurrent(await standingOf(query, family), migrationsOf('postgres', family));
  const moving = `SELECT 1 FROM ${family}.schema_migrations WHERE version = ${MOVING}`;
  if ((await query(moving)).length > 0) {
    throw new StoreError(
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
  if (demandOurs(await standingOf(query, family), migrations) >= migration.version) return false;
  await makeSchema(query, family);
  await query(tableOf(family));
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
  throw new StoreError(
    'encoding',
    `the database has the encoding ${row?.encoding}, carbon-mirror needs UTF8: create it with ENCODING 'UTF8'`,
  );
}

const tableOf = (family: Family): string => `CREATE TABLE IF NOT EXISTS ${family}.schema_migrations (
  version bigint PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  applied_at timestamptz(3) NOT NULL,
  digest text COLLATE "C" NOT NULL
)`;

async function standingOf(query: Query, family: Family): Promise<Standing> {
  const records = await recordsOf(query, family);
  return {
    where: `the schema ${family}`,
    version: Math.max(0, ...records.map(({ version }) => version)),
    records,
    aside: 'drop or rename the schemas inbox, mirror and evidence, and run "carbon-mirror migrate" again',
  };
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
    throw new StoreError(
      'foreign',
      `the database has a schema "${family}" that is not carbon-mirror's: give it a database of its own`,
    );
  }
  return await query<Recorded>(`SELECT * FROM ${family}.schema_migrations`);
}
