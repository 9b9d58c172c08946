import { setTimeout as sleep } from 'node:timers/promises';
import type { NewMigration } from '../engine.js';
import type { DatabaseName } from '../migrations.js';
import type { PoolOptions } from './driver.js';
import { StoreError } from '../store-error.js';
import { assertMigrated, migrate } from './migrate.js';
import { openPostgres, type Postgres } from './open-postgres.js';

const CHECK_INTERVAL_MS = 500;
const MAX_CHECKS = 120;
const TEMPORARY_CODES = ['older', 'away'];

/** Applies the pending migrations of all PostgreSQL schemas. Returns the migrations that this call applied. */
export async function migrateSchemas(postgres: Postgres, now: number): Promise<NewMigration[]> {
  return (await migrate(postgres, new Date(now).toISOString())).map(name => {
    const [database = '', file = ''] = name.split('/');
    return { database: `schema ${database}`, file };
  });
}

/**
 * Waits until the server is available and another process has migrated the schemas. Then returns an empty list, because it
 * applies no migrations. Throws the last error after a minute, and throws at once an error that waiting cannot remove, such as a
 * newer schema. Calls `onWait` once if it must wait.
 */
export async function awaitSchema(
  postgres: Postgres,
  schemas: readonly DatabaseName[],
  onWait: (reason: string) => void,
  wait: (ms: number) => Promise<unknown> = sleep,
): Promise<NewMigration[]> {
  for (let check = 1; ; check += 1) {
    const fault = await findSchemaFault(postgres, schemas);
    if (fault === null) return [];
    if (check === MAX_CHECKS || !isTemporary(fault)) throw fault;
    if (check === 1) onWait(fault.message);
    await wait(CHECK_INTERVAL_MS);
  }
}

/** Opens a pool of connections, calls `work` with it, and closes it afterwards. */
export async function withConnections<T>(
  pool: PoolOptions,
  work: (postgres: Postgres) => Promise<T>,
): Promise<T> {
  const postgres = openPostgres(pool);
  try {
    return await work(postgres);
  } finally {
    await postgres.close();
  }
}

/** Opens a pool of connections. Throws unless the schemas `inbox` and `mirror` are migrated. */
export async function openMigrated(pool: PoolOptions): Promise<Postgres> {
  const postgres = openPostgres(pool);
  try {
    await assertMigrated(postgres, 'inbox');
    await assertMigrated(postgres, 'mirror');
    return postgres;
  } catch (error) {
    await postgres.close();
    throw error;
  }
}

/** Returns the error if the server is not available or a schema is not migrated; null if there is no error. */
async function findSchemaFault(postgres: Postgres, schemas: readonly DatabaseName[]): Promise<unknown> {
  try {
    for (const schema of schemas) await assertMigrated(postgres, schema);
    return null;
  } catch (error) {
    return error;
  }
}

/** Returns whether an error may go away: the server is not available or a migration is missing. */
function isTemporary(error: unknown): error is StoreError {
  return error instanceof StoreError && TEMPORARY_CODES.includes(error.code);
}
