import { type Files, openReader } from '../query/open.js';
import { prepareReading, type Value } from '../query/statement-guard.js';

/** The program of the child that runs a person's SQL. SQLite has no interrupt here, so the parent kills it. */
export interface QueryRequest extends Files {
  readonly sql: string;
}

export type QueryAnswer =
  | { readonly columns: readonly string[] }
  | { readonly rows: readonly (readonly Value[])[]; readonly last: boolean }
  | { readonly fault: string };

const HEAP_LIMIT_BYTES = 512 * 1024 * 1024;
const ROWS_PER_MESSAGE = 500;

process.once('message', (request: QueryRequest) => {
  answer(request).catch((error: unknown) =>
    send({ fault: error instanceof Error ? error.message : String(error) }),
  );
});

async function answer(request: QueryRequest): Promise<void> {
  const db = openReader(request);
  db.pragma(`hard_heap_limit = ${HEAP_LIMIT_BYTES}`);
  const reading = prepareReading(db, request.sql);
  await send({ columns: reading.columns().map(column => column.name) });
  let rows: Value[][] = [];
  for (const row of reading.iterate()) {
    rows.push(row);
    if (rows.length === ROWS_PER_MESSAGE) {
      await sendRows(rows, false);
      rows = [];
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
