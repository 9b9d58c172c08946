import type { InboxPort } from '../../inbox/port.js';
import type { OpenReader } from '../contract/reader.js';
import type { Broken, Erased, OpenPdfs, WorkStore, Writers } from '../engine.js';
import type { PoolOptions } from './driver.js';
import { findBroken } from './find-broken.js';
import { createInboxPort } from './inbox/inbox.js';
import { createWake } from './inbox/watch.js';
import { createCertificateTable } from './mirror/certificates.js';
import { createMirrorPort } from './mirror/mirror.js';
import type { Postgres } from './open.js';
import { during, openMigrated } from './prepare.js';
import { readerOf } from './reader.js';
import type { InboxClock } from './settings.js';
import { snapshot } from './snapshot.js';

export async function writeSnapshot(pool: PoolOptions, file: string, now: number): Promise<boolean> {
  return await during(pool, postgres => snapshot(postgres, file, new Date(now).toISOString()));
}

export async function findBrokenIn(pool: PoolOptions, now: number): Promise<Broken[]> {
  return await during(pool, postgres => findBroken(postgres, now));
}

export async function openReader(pool: PoolOptions, open = openMigrated): Promise<OpenReader> {
  const postgres = await open(pool);
  return { ...readerOf(postgres), close: postgres.close };
}

/** As the trigger of the counter names it. */
const CHANGES = 'carbon_mirror_changes';

export async function watchChanges(pool: PoolOptions, changed: () => void): Promise<() => Promise<void>> {
  const postgres = await openMigrated(pool);
  const stop = createWake(postgres, CHANGES).watch(changed);
  return async () => {
    stop();
    await postgres.close();
  };
}

export async function openPdfs(pool: PoolOptions, now: () => number, open = openMigrated): Promise<OpenPdfs> {
  const postgres = await open(pool);
  return { pdfs: createCertificateTable(postgres, { now }), close: postgres.close };
}

export async function openInbox(pool: PoolOptions, clock: InboxClock): Promise<InboxPort> {
  return createInboxPort(await openMigrated(pool), clock);
}

export async function openWriters(pool: PoolOptions, now: () => number, clock: InboxClock): Promise<Writers> {
  const postgres = await openMigrated(pool);
  return {
    ...partsOf(postgres, now, clock),
    erase: vacuum => erase(postgres, vacuum),
    close: postgres.close,
  };
}

export async function openWork(pool: PoolOptions, now: () => number, clock: InboxClock): Promise<WorkStore> {
  const postgres = await openMigrated(pool);
  return { ...partsOf(postgres, now, clock), logs: () => [], close: postgres.close };
}

function partsOf(postgres: Postgres, now: () => number, clock: InboxClock) {
  return {
    inbox: createInboxPort(postgres, clock),
    mirror: createMirrorPort(postgres),
    pdfs: createCertificateTable(postgres, { now }),
    reader: readerOf(postgres),
  };
}

/** What opens it, opens it once for all who have it; it is closed when the last of them closes it. */
export function createShared(): (pool: PoolOptions) => Promise<Postgres> {
  let shared: Promise<Postgres> | null = null;
  let users = 0;
  return async pool => {
    users += 1;
    shared ??= openMigrated(pool);
    try {
      const postgres = await shared;
      const close = async (): Promise<void> => {
        users -= 1;
        if (users > 0) return;
        shared = null;
        await postgres.close();
      };
      return { ...postgres, close };
    } catch (error) {
      users -= 1;
      shared = null;
      throw error;
    }
  };
}

const DEAD_ROWS =
  'Removed rows stand in the files of the server until it has vacuumed: without --no-vacuum it does so now.';
const FREE_SPACE =
  "Bytes of removed rows may stay in free space of the server's files until it is written again: VACUUM FULL by the owner of the tables rewrites the files.";
const OPERATORS =
  "The server's log of writes, its replicas and its backups keep older copies until their operator removes them.";

const OWNER =
  'Only the owner of the tables may vacuum; since PostgreSQL 17 also a role with MAINTAIN on them.';

/**
 * Rows are gone with the commit. Vacuumed, their space is free, and their bytes stand in it until it is written again:
 * what rewrites the files locks tables that a receiver or a worker needs, and is the owner's to choose.
 */
async function erase(postgres: Postgres, vacuum: boolean): Promise<Erased> {
  const kept = vacuum ? await vacuumAll(postgres) : [DEAD_ROWS];
  return { vacuumed: vacuum && kept.length === 0, logEmptied: false, left: [...kept, FREE_SPACE, OPERATORS] };
}

/** Answers what was not vacuumed: a table that whoever asks may not vacuum is skipped with no more than a warning. */
async function vacuumAll({ query, warnings }: Postgres): Promise<string[]> {
  const tables = await query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_catalog.pg_tables
     WHERE schemaname IN ('inbox', 'mirror') ORDER BY 1`,
  );
  const [first, ...others] = await warnings(`VACUUM ${tables.map(({ name }) => name).join(', ')}`);
  if (first === undefined) return [];
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return [
    `NOT vacuumed: ${first}${more}. Removed rows stand in the files of the server until it is. ${OWNER}`,
  ];
}
