import { sql } from 'kysely';
import type { OpenReader } from '../contract/reader.js';
import type { ErasureReport, OpenPdfs, WorkerStores, WriterStores } from '../engine.js';
import { select, sqlStatement } from '../sql/columns.js';
import { prepared } from '../sql/prepared.js';
import { createAutocommitBatch } from './database.js';
import { createInboxPort } from './inbox/inbox-port.js';
import { createCertificateTable } from './mirror/certificate-table.js';
import { createMirrorPort } from './mirror/mirror-port.js';
import type { Postgres } from './open-postgres.js';
import { createReader } from './reader.js';
import type { InboxClock } from './pool-settings.js';

/** Creates a reader that closes the pool with it. */
export function createOpenReader(postgres: Postgres): OpenReader {
  return { ...createReader(postgres), close: postgres.close };
}

/** Creates a store of certificates that closes the pool with it. */
export function createOpenPdfs(postgres: Postgres, now: () => number): OpenPdfs {
  return { pdfs: createCertificateTable(postgres, { now }), close: postgres.close };
}

/**
 * Creates all stores on one connection pool, for a worker or a command that writes. `clock` supplies the times of inbox rows, and `now` the
 * times of stored PDFs.
 */
export function createStores(
  postgres: Postgres,
  now: () => number,
  clock: InboxClock,
): WorkerStores & WriterStores {
  return {
    inbox: createInboxPort(postgres, clock),
    mirror: createMirrorPort(postgres),
    pdfs: createCertificateTable(postgres, { now }),
    reader: createReader(postgres),
    readWalStatus: () => [],
    erase: vacuum => eraseDeletedRows(postgres, vacuum),
    close: postgres.close,
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
 * Vacuums all tables if `vacuum` is true, and returns a report that says where bytes of deleted rows may remain. Vacuuming only frees
 * space, and freed space keeps old bytes until it is reused. VACUUM FULL would remove the bytes, but it locks the tables, so this function
 * leaves it to the owner of the tables.
 */
async function eraseDeletedRows(postgres: Postgres, vacuum: boolean): Promise<ErasureReport> {
  const notVacuumed = vacuum ? await vacuumAll(postgres) : [DEAD_ROWS];
  return {
    vacuumed: vacuum && notVacuumed.length === 0,
    logEmptied: false,
    remainingCopies: [...notVacuumed, FREE_SPACE, OPERATORS],
  };
}

const LIST_TABLES = prepared(
  () => sqlStatement`SELECT ${select({ name: sql<string>`format('%I.%I', schemaname, tablename)` })}
    FROM pg_catalog.pg_tables WHERE schemaname IN ('inbox', 'mirror') ORDER BY 1`,
);

/**
 * Vacuums all tables. Returns a message if the server skipped tables that the role may not vacuum. The server reports a skipped table only
 * as a warning, not as an error.
 */
async function vacuumAll({ query, runForWarnings }: Postgres): Promise<string[]> {
  const [tables] = await createAutocommitBatch(query)(LIST_TABLES());
  const [first, ...others] = await runForWarnings(`VACUUM ${tables.map(({ name }) => name).join(', ')}`);
  if (first === undefined) return [];
  const more = others.length === 0 ? '' : ` (and ${others.length} more)`;
  return [
    `NOT vacuumed: ${first}${more}. Removed rows stand in the files of the server until it is. ${OWNER}`,
  ];
}
