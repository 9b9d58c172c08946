import { setTimeout as sleep } from 'node:timers/promises';
import type { NewMigration } from '../engine.js';
import type { Family } from '../migrations.js';
import type { PoolOptions } from './driver.js';
import { StoreError } from '../store-error.js';
import { demandSchema, migrate } from './migrate.js';
import { openPostgres, type Postgres } from './open-postgres.js';

const LOOK_EVERY_MS = 500;
const LOOKS = 120;
const LATER = ['older', 'away'];

export async function migrateAll(postgres: Postgres, now: number): Promise<NewMigration[]> {
  return (await migrate(postgres, new Date(now).toISOString())).map(name => {
    const [database = '', file = ''] = name.split('/');
    return { database: `schema ${database}`, file };
  });
}

/** Waits up to a minute until the server is available and its schema migrated. */
export async function awaitSchema(
  postgres: Postgres,
  families: readonly Family[],
  waits: (what: string) => void,
  wait: (ms: number) => Promise<unknown> = sleep,
): Promise<NewMigration[]> {
  for (let look = 1; ; look += 1) {
    const fault = await faultOf(postgres, families);
    if (fault === null) return [];
    if (look === LOOKS || !isForLater(fault)) throw fault;
    if (look === 1) waits(fault.message);
    await wait(LOOK_EVERY_MS);
  }
}

/** Opens connections for one piece of work, and closes them after it. */
export async function during<T>(pool: PoolOptions, work: (postgres: Postgres) => Promise<T>): Promise<T> {
  const postgres = openPostgres(pool);
  try {
    return await work(postgres);
  } finally {
    await postgres.close();
  }
}

/** Opens connections. Throws unless inbox and mirror are migrated. */
export async function openMigrated(pool: PoolOptions): Promise<Postgres> {
  const postgres = openPostgres(pool);
  try {
    await demandSchema(postgres, 'inbox');
    await demandSchema(postgres, 'mirror');
    return postgres;
  } catch (error) {
    await postgres.close();
    throw error;
  }
}

async function faultOf(postgres: Postgres, families: readonly Family[]): Promise<unknown> {
  try {
    for (const family of families) await demandSchema(postgres, family);
    return null;
  } catch (error) {
    return error;
  }
}

function isForLater(error: unknown): error is StoreError {
  return error instanceof StoreError && LATER.includes(error.code);
}
