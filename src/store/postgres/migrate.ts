import { sql } from 'kysely';
import { INSERT_APPLIED, LIST_APPLIED, MOVE_IN_PROGRESS } from '../applied-migrations.js';
import {
  assertCurrentSchema,
  requireKnownSchemaVersion,
  computeDigest,
  DATABASE_NAMES,
  type DatabaseName,
  type Migration,
  listMigrations,
  type AppliedMigration,
  type SchemaState,
} from '../migrations.js';
import { StoreError } from '../store-error.js';
import { select, sqlStatement } from '../sql/columns.js';
import { type Params, prepared } from '../sql/prepared.js';
import { createAutocommitBatch } from './database.js';
import type { Postgres, RunQuery } from './open-postgres.js';

type SchemaName = { readonly schema: DatabaseName };

/** The advisory lock that every migration takes. */
const LOCK = 7_261_003_415;
const LOCK_MIGRATIONS = prepared(
  () => sqlStatement`SELECT ${select({ locked: sql`pg_advisory_xact_lock(${sql.lit(LOCK)})` })}`,
);
const FIND_SCHEMA = prepared(
  (_, { schema }: Params<SchemaName>) =>
    sqlStatement`SELECT ${select({ found: sql<number>`1` })} FROM pg_catalog.pg_namespace WHERE nspname = ${schema}`,
);
const READ_ENCODING = prepared(
  () => sqlStatement`SELECT ${select({ encoding: sql<string>`current_setting('server_encoding')` })}`,
);
/** Reads the number of relations in a schema, and whether one of them is our table of applied migrations. */
const DESCRIBE_SCHEMA = prepared(
  (_, { schema }: Params<SchemaName>) =>
    sqlStatement`SELECT ${select({
      relations: sql<number>`(SELECT count(*) FROM pg_catalog.pg_class AS c
      JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = ${schema}::text)`,
      isOurs: sql<boolean>`(SELECT count(*) = 3 FROM pg_catalog.pg_attribute
      WHERE attrelid = to_regclass(${schema}::text || '.schema_migrations') AND attname IN ('version', 'name', 'applied_at'))`,
    })}`,
);

/**
 * Applies the missing migrations of all schemas and returns their names. Each runs in a transaction that takes a lock and
 * rereads the version, so several processes may migrate at once. Throws without changes if a schema with one of our names
 * belongs to another program.
 */
export async function migrate(
  postgres: Postgres,
  now: string,
  getMigrations: (schema: DatabaseName) => readonly Migration[] = schema =>
    listMigrations('postgres', schema),
): Promise<string[]> {
  const applied: string[] = [];
  for (const schema of DATABASE_NAMES)
    requireKnownSchemaVersion(await readSchemaState(postgres.query, schema), getMigrations(schema));
  for (const schema of DATABASE_NAMES) {
    const migrations = getMigrations(schema);
    for (const migration of migrations) {
      const isNew = await postgres.transact(query =>
        applyMigration(query, schema, migration, migrations, now),
      );
      if (isNew) applied.push(`${schema}/${migration.name}`);
    }
  }
  return applied;
}

/** Throws unless a schema has all migrations of this program. Also throws if `move` has not finished copying data into it. */
export async function assertMigrated({ query }: Postgres, schema: DatabaseName): Promise<void> {
  const state = await readSchemaState(query, schema);
  assertCurrentSchema(state, listMigrations('postgres', schema));
  if (state.records.some(({ version }) => version === MOVE_IN_PROGRESS)) {
    throw new StoreError(
      'unfinished',
      'files are being moved into this database, or were and did not all arrive: run "carbon-mirror move --to postgres" again',
    );
  }
}

/**
 * Applies a migration to one PostgreSQL schema and records it. Returns false if the schema already has the migration. `migrations` lists
 * all migrations of the schema. Throws if the schema records a migration that is not in this list or had another text.
 */
async function applyMigration(
  query: RunQuery,
  schema: DatabaseName,
  migration: Migration,
  migrations: readonly Migration[],
  now: string,
): Promise<boolean> {
  await query("SET LOCAL lock_timeout = '60s'");
  await createAutocommitBatch(query)(LOCK_MIGRATIONS());
  await assertUtf8(query);
  if (requireKnownSchemaVersion(await readSchemaState(query, schema), migrations) >= migration.version)
    return false;
  await createSchema(query, schema);
  await query(createTableStatement(schema));
  await query(migration.sql);
  const { version, name } = migration;
  const insert = INSERT_APPLIED[schema];
  await createAutocommitBatch(query)(
    insert({ version, name, appliedAt: now, digest: computeDigest(migration) }),
  );
  return true;
}

/** Creates a schema if it is missing. CREATE SCHEMA IF NOT EXISTS would need a privilege even for an existing schema. */
async function createSchema(query: RunQuery, schema: DatabaseName): Promise<void> {
  const [found] = await createAutocommitBatch(query)(FIND_SCHEMA({ schema }));
  if (found.length === 0) await query(`CREATE SCHEMA ${schema}`);
}

/** Throws unless the database has the encoding UTF8. */
async function assertUtf8(query: RunQuery): Promise<void> {
  const [[row]] = await createAutocommitBatch(query)(READ_ENCODING());
  if (row?.encoding === 'UTF8') return;
  throw new StoreError(
    'encoding',
    `the database has the encoding ${row?.encoding}, carbon-mirror needs UTF8: create it with ENCODING 'UTF8'`,
  );
}

const createTableStatement = (
  schema: DatabaseName,
): string => `CREATE TABLE IF NOT EXISTS ${schema}.schema_migrations (
  version bigint PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  applied_at timestamptz(3) NOT NULL,
  digest text COLLATE "C" NOT NULL
)`;

/** Reads the version and the applied migrations of a schema. */
async function readSchemaState(query: RunQuery, schema: DatabaseName): Promise<SchemaState> {
  const records = await listAppliedMigrations(query, schema);
  return {
    label: `the schema ${schema}`,
    version: Math.max(0, ...records.map(({ version }) => version)),
    records,
    advice:
      'drop or rename the schemas inbox, mirror, evidence and events, and run "carbon-mirror migrate" again',
  };
}

/**
 * Returns the recorded migrations of a schema, or an empty list if the schema is empty. Throws if the schema belongs to another
 * program.
 */
async function listAppliedMigrations(
  query: RunQuery,
  schema: DatabaseName,
): Promise<readonly AppliedMigration[]> {
  const send = createAutocommitBatch(query);
  const [[found]] = await send(DESCRIBE_SCHEMA({ schema }));
  if (found === undefined || found.relations === 0) return [];
  if (!found.isOurs) {
    throw new StoreError(
      'foreign',
      `the database has a schema "${schema}" that is not carbon-mirror's: give it a database of its own`,
    );
  }
  const [records] = await send(LIST_APPLIED[schema]());
  return records;
}
