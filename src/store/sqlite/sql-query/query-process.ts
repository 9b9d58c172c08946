import { Worker } from 'node:worker_threads';
import {
  SqlQueryError,
  type SqlQueryErrorCode,
  measureRow,
  TooLargeError,
} from '../../contract/sql-query.js';
import type { Value } from '../../contract/tables.js';
import { type DatabaseFiles, openReadOnly } from '../open-read-only.js';
import { prepareSqlQuery } from './prepare-sql-query.js';
import type { QueryLimits } from './query-watchdog.js';

/** A query for the child process. The parent kills that process to stop it, because SQLite has no interrupt here. */
export interface QueryRequest extends DatabaseFiles, QueryLimits {
  readonly sql: string;
}

/** A message of the child process: first the columns, then groups of rows, or an error. */
export type QueryMessage =
  | { readonly columns: readonly string[] }
  | { readonly rows: readonly (readonly Value[])[]; readonly last: boolean }
  | { readonly fault: string; readonly code: SqlQueryErrorCode };

const MB = 1024 * 1024;
const MESSAGE_BYTES = MB;
const ROWS_PER_MESSAGE = 500;
/** Error codes of SQLite, and of Node since 24. */
const MEMORY_CODES = ['SQLITE_NOMEM', 'SQLITE_TOOBIG', 'ERR_MEMORY_ALLOCATION_FAILED'];
const ROOM_CODES = ['SQLITE_FULL', 'SQLITE_IOERR_WRITE'];
const DAMAGE = /^SQLITE_(CORRUPT|NOTADB)/;
/** Recognized by the message, because SQLite has no code for it. */
const UNKNOWN_NAME = /^no such (table|column)/;

process.once('message', (request: QueryRequest) => {
  startWatchdog(request);
  runQuery(request)
    .catch((error: unknown) => sendMessage(toFault(error, request)))
    .catch(exit);
});

/** Exits if an error cannot be sent, because the parent has ended. */
function exit(): void {
  process.exit();
}

/** Starts a thread that kills this process if the query exceeds its limits or the parent has ended. */
function startWatchdog({ parentPid, timeLimitMs, memoryMb }: QueryLimits): void {
  const workerData: QueryLimits = { parentPid, timeLimitMs, memoryMb };
  new Worker(new URL('./query-watchdog.js', import.meta.url), { workerData }).unref();
}

/** Converts an error of a query to a message for the parent process. `memoryMb` is the memory limit that the message states. */
function toFault(
  error: unknown,
  { memoryMb }: QueryLimits,
): Extract<QueryMessage, { readonly fault: string }> {
  if (!(error instanceof Error)) return { fault: String(error), code: 'refused' };
  if (error instanceof TooLargeError) return { fault: error.message, code: 'too_large' };
  if (error instanceof SqlQueryError) return { fault: error.message, code: error.code };
  const code = 'code' in error ? String(error.code) : '';
  if (MEMORY_CODES.includes(code)) {
    return { fault: `it needs more than ${memoryMb} MB of memory`, code: 'too_large' };
  }
  if (ROOM_CODES.includes(code)) {
    return { fault: 'it needs more room for temporary files than it may have', code: 'too_large' };
  }
  if (DAMAGE.test(code)) return { fault: error.message, code: 'damaged' };
  return { fault: error.message, code: UNKNOWN_NAME.test(error.message) ? 'unknown_name' : 'refused' };
}

/** Runs a query and sends its columns and rows to the parent process. */
async function runQuery(request: QueryRequest): Promise<void> {
  const db = openReadOnly(request);
  const reading = prepareSqlQuery(db, request.sql);
  await sendMessage({ columns: reading.columns().map(column => column.name) });
  let rows: Value[][] = [];
  let bytes = 0;
  for (const row of reading.iterate()) {
    bytes += measureRow(row);
    rows.push(row);
    if (rows.length === ROWS_PER_MESSAGE || bytes >= MESSAGE_BYTES) {
      await sendRows(rows, false);
      rows = [];
      bytes = 0;
    }
  }
  db.close();
  await sendRows(rows, true);
}

/**
 * Sends rows to the parent process and waits until it requests more, so that no rows pile up in memory. Disconnects after the
 * last rows.
 */
async function sendRows(rows: readonly (readonly Value[])[], last: boolean): Promise<void> {
  const asked = new Promise<void>(resolve => {
    process.once('message', () => resolve());
  });
  await sendMessage({ rows, last });
  await asked;
  if (last) process.disconnect();
}

/** Sends a message to the parent process. Throws if that process has ended. */
async function sendMessage(message: QueryMessage): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.send?.(message, undefined, undefined, error => (error === null ? resolve() : reject(error)));
  });
}
