import { sql } from 'kysely';
import { INSERT_APPLIED, LIST_APPLIED, MOVE_IN_PROGRESS } from '../applied-migrations.js';
import {
  assertCurrentSchema,
  assertOwnSchema,
  computeDigest,
  FAMILIES,
  type Family,
  type Migration,
  migrationsOf,
  type AppliedMigration,
  type SchemaState,
} from '../migrations.js';
import { StoreError } from '../store-error.js';
import { select, sqlStatement } from '../sql/columns.js';
import { type Params, prepared } from '../sql/prepared.js';
import { createAutocommitBatch } from './database.js';
import type { Postgres, RunQuery } from './open-postgres.js';

type FamilyName = { readonly family: Family };

/** The advisory lock that every migration takes. */
const LOCK = 7_261_003_415;
const LOCK_MIGRATIONS = prepared(
  () => sqlStatement`SELECT ${select({ locked: sql`pg_advisory_xact_lock(${sql.lit(LOCK)})` })}`,
);
const FIND_SCHEMA = prepared(
  (_, { family }: Params<FamilyName>) =>
    sqlStatement`SELECT ${select({ found: sql<number>`1` })} FROM pg_catalog.pg_namespace WHERE nspname = ${family}`,
);
const READ_ENCODING = prepared(
  () => sqlStatement`SELECT ${select({ encoding: sql<string>`current_setting('server_encoding')` })}`,
);
/** Reads the number of relations in a schema, and whether one of them is our table of applied migrations. */
const DESCRIBE_SCHEMA = prepared(
  (_, { family }: Params<FamilyName>) =>
    sqlStatement`SELECT ${select({
      relations: sql<number>`(SELECT count(*) FROM pg_catalog.pg_class AS c
      JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = ${family}::text)`,
      isOurs: sql<boolean>`(SELECT count(*) = 3 FROM pg_catalog.pg_attribute
      WHERE attrelid = to_regclass(${family}::text || '.schema_migrations') AND attname IN ('version', 'name', 'applied_at'))`,
    })}`,
);

/**
 * Migrates a database and returns the names of the migrations that it applied. Each migration runs in a transaction that takes
 * a lock and rereads the version, so several processes may migrate at once. Throws without changes if a schema with one of our
 * names belongs to another program.
 */
export async function migrate(
  postgres: Postgres,
  now: string,
  getMigrations: (family: Family) => readonly Migration[] = family => migrationsOf('postgres', family),
): Promise<string[]> {
  const applied: string[] = [];
  for (const family of FAMILIES)
    assertOwnSchema(await readSchemaState(postgres.query, family), getMigrations(family));
  for (const family of FAMILIES) {
    const migrations = getMigrations(family);
    for (const migration of migrations) {
      const isNew = await postgres.transact(query =>
        applyMigration(query, family, migration, migrations, now),
      );
      if (isNew) applied.push(`${family}/${migration.name}`);
    }
  }
  return applied;
}

/** Throws unless a schema has all migrations of this program and is not being moved into. */
export async function assertMigrated({ query }: Postgres, family: Family): Promise<void> {
  const state = await readSchemaState(query, family);
  assertCurrentSchema(state, migrationsOf('postgres', family));
  if (state.records.some(({ version }) => version === MOVE_IN_PROGRESS)) {
    throw new StoreError(
      'unfinished',
      'files are being moved into this database, or were and did not all arrive: run "carbon-mirror move --to postgres" again',
    );
  }
}

/** Applies a migration and records it. Returns false if it was applied before. */
async function applyMigration(
  query: RunQuery,
  family: Family,
  migration: Migration,
  migrations: readonly Migration[],
  now: string,
): Promise<boolean> {
  await query("SET LOCAL lock_timeout = '60s'");
  await createAutocommitBatch(query)(LOCK_MIGRATIONS());
  await assertUtf8(query);
  if (assertOwnSchema(await readSchemaState(query, family), migrations) >= migration.version) return false;
  await createSchema(query, family);
  await query(createTableStatement(family));
  await query(migration.sql);
  const { version, name } = migration;
  const insert = INSERT_APPLIED[family];
  await createAutocommitBatch(query)(
    insert({ version, name, appliedAt: now, digest: computeDigest(migration) }),
  );
  return true;
}

/** Creates a schema if it is missing. CREATE SCHEMA IF NOT EXISTS would need a privilege even for an existing schema. */
async function createSchema(query: RunQuery, family: Family): Promise<void> {
  const [found] = await createAutocommitBatch(query)(FIND_SCHEMA({ family }));
  if (found.length === 0) await query(`CREATE SCHEMA ${family}`);
}

async function assertUtf8(query: RunQuery): Promise<void> {
  const [[row]] = await createAutocommitBatch(query)(READ_ENCODING());
  if (row?.encoding === 'UTF8') return;
  throw new StoreError(
    'encoding',
    `the database has the encoding ${row?.encoding}, carbon-mirror needs UTF8: create it with ENCODING 'UTF8'`,
  );
}

const createTableStatement = (
  family: Family,
): string => `CREATE TABLE IF NOT EXISTS ${family}.schema_migrations (
  version bigint PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  applied_at timestamptz(3) NOT NULL,
  digest text COLLATE "C" NOT NULL
)`;

async function readSchemaState(query: RunQuery, family: Family): Promise<SchemaState> {
  const records = await listAppliedMigrations(query, family);
  return {
    label: `the schema ${family}`,
    version: Math.max(0, ...records.map(({ version }) => version)),
    records,
    advice:
      'drop or rename the schemas inbox, mirror, evidence and events, and run "carbon-mirror migrate" again',
  };
}

/** Returns the recorded migrations; none for an empty schema. Throws if the schema belongs to another program. */
async function listAppliedMigrations(query: RunQuery, family: Family): Promise<readonly AppliedMigration[]> {
  const send = createAutocommitBatch(query);
  const [[found]] = await send(DESCRIBE_SCHEMA({ family }));
  if (found === undefined || found.relations === 0) return [];
  if (!found.isOurs) {
    throw new StoreError(
      'foreign',
      `the database has a schema "${family}" that is not carbon-mirror's: give it a database of its own`,
    );
  }
  const [records] = await send(LIST_APPLIED[family]());
  return records;
}
