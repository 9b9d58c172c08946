import { Worker } from 'node:worker_threads';
import { sizeOf, TooLargeError } from '../../contract/question.js';
import type { Value } from '../../contract/tables.js';
import { type Files, openBoth } from '../open-both.js';
import { prepareReading } from './statement-guard.js';
import type { Watch } from './query-watch.js';

/** The program of the child that runs a person's SQL. SQLite has no interrupt here, so the parent kills it. */
export interface QueryRequest extends Files, Watch {
  readonly sql: string;
}

export type QueryAnswer =
  | { readonly columns: readonly string[] }
  | { readonly rows: readonly (readonly Value[])[]; readonly last: boolean }
  | { readonly fault: string; readonly isTooLarge: boolean };

const MB = 1024 * 1024;
/** With the largest row that `sizeOf` lets through it keeps both processes under 512 MB together. */
const HEAP_LIMIT_BYTES = 64 * MB;
const MESSAGE_BYTES = MB;
const ROWS_PER_MESSAGE = 500;
const MEMORY_CODES = ['SQLITE_NOMEM', 'SQLITE_TOOBIG'];

process.once('message', (request: QueryRequest) => {
  watch(request);
  answer(request).catch((error: unknown) => {
    const { message, isTooLarge } = describe(error);
    return send({ fault: message, isTooLarge });
  });
});

function watch({ askerPid, timeLimitMs }: Watch): void {
  const workerData: Watch = { askerPid, timeLimitMs };
  new Worker(new URL('./query-watch.js', import.meta.url), { workerData }).unref();
}

function describe(error: unknown): { readonly message: string; readonly isTooLarge: boolean } {
  if (!(error instanceof Error)) return { message: String(error), isTooLarge: false };
  if ('code' in error && MEMORY_CODES.includes(String(error.code))) {
    return { message: `it needs more than ${HEAP_LIMIT_BYTES / MB} MB of memory`, isTooLarge: true };
  }
  return { message: error.message, isTooLarge: error instanceof TooLargeError };
}

async function answer(request: QueryRequest): Promise<void> {
  const db = openBoth(request);
  db.pragma(`hard_heap_limit = ${HEAP_LIMIT_BYTES}`);
  const reading = prepareReading(db, request.sql);
  await send({ columns: reading.columns().map(column => column.name) });
  let rows: Value[][] = [];
  let bytes = 0;
  for (const row of reading.iterate()) {
    bytes += sizeOf(row);
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

/** One message at a time: the parent asks for the next, so neither side gathers rows. */
async function sendRows(rows: readonly (readonly Value[])[], last: boolean): Promise<void> {
  const asked = new Promise<void>(resolve => {
    process.once('message', () => resolve());
  });
  await send({ rows, last });
  await asked;
  if (last) process.disconnect();
}

async function send(message: QueryAnswer): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    process.send?.(message, undefined, undefined, error => (error === null ? resolve() : reject(error)));
  });
}
