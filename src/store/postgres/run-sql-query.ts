import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import {
  type StatementRows,
  SqlQueryError,
  createAbortError,
  type SqlQuery,
  assertStartsLikeQuery,
  measureRow,
  TooLargeError,
  toRow,
  makeNamesUnique,
  skipLeadingComments,
} from '../contract/sql-query.js';
import type { Row, Value } from '../contract/tables.js';
import { select, sqlStatement } from '../sql/columns.js';
import { type Params, prepared, type ResultRow } from '../sql/prepared.js';
import { createAutocommitBatch } from './database.js';
import { getCellParser, createPool, type PoolOptions } from './driver.js';
import { translateErrors } from './translate-errors.js';
import { describePrivileges, READ_ROLE_PRIVILEGES } from './examine-query-role.js';

const MB = 1024 * 1024;
/** Rows are fetched in batches of about this size. */
const BATCH_BYTES = MB;
const MAX_BATCH_ROWS = 500;
/** A batch larger than this closes the connection. */
const MAX_BATCH_BYTES = 32 * MB;

/** SQLSTATEs, or their prefixes, of queries that the server stopped. */
const STOPPED_CODES = ['57014', '25P03'];
const OUT_OF_MEMORY = ['53', '54'];
const LOST_CODES = ['08', '57P'];
/** SQLSTATEs of an unknown table and an unknown column. */
const UNKNOWN_NAME = ['42P01', '42703'];

/** Runs a user's SQL in a read-only transaction and streams its rows. Stops at the time limit, or when the signal aborts. */
export async function runSqlQuery(options: PoolOptions, query: SqlQuery): Promise<StatementRows> {
  assertStartsLikeQuery(query.sql);
  const pool = createPool(options);
  try {
    const client = await translateErrors(() => pool.connect());
    const session = createQuerySession(pool, client, query);
    try {
      const { columns, rows } = await session.begin(query.sql);
      const close = async () => {
        await session.end();
        await pool.end();
      };
      return { columns, rows: closeAfter(rows, close) };
    } catch (error) {
      await session.end();
      throw error;
    }
  } catch (error) {
    await pool.end();
    throw error;
  }
}

/** Yields all rows. Calls `close` after the last row, or when the caller stops reading. */
async function* closeAfter(rows: AsyncIterable<Row>, close: () => Promise<void>): AsyncGenerator<Row> {
  try {
    yield* rows;
  } finally {
    await close();
  }
}

/** Formats the SQL that begins the transaction. Queries may omit schema names, and the format of values is always the same. */
const formatBegin = (timeLimitMs: number): string => `
  BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL search_path = mirror, inbox;
  SET LOCAL DateStyle = 'ISO';
  SET LOCAL TimeZone = 'UTC';
  SET LOCAL bytea_output = 'hex';
  SET LOCAL statement_timeout = ${Math.ceil(timeLimitMs)};
  SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(timeLimitMs) + 1000};
  DO $$ BEGIN
    SET LOCAL client_connection_check_interval = 1000;
  EXCEPTION WHEN others THEN NULL; -- not available on every system; the time limit still applies
  END $$`;

/** The rows that one FETCH returned. */
interface RowBatch {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Value[])[];
  /** The bytes that the server sent. */
  readonly bytes: number;
}

/** A query that a user wrote, on a connection of its own. */
interface QuerySession {
  /** Runs the query and returns its columns and the stream of its rows. */
  begin(text: string): Promise<StatementRows>;
  /** Closes the connection, which ends the transaction and the query. */
  end(): Promise<void>;
}

const BACKEND = {
  pid: sql<number>`pid`,
  startedAt: sql<string>`backend_start::text`,
};
const READ_BACKEND = prepared(
  () => sqlStatement`SELECT ${select(BACKEND)} FROM pg_catalog.pg_stat_activity WHERE pid = pg_backend_pid()`,
);
/** The server process of a connection. A pid can be reused, so its start time is compared too. */
type Backend = ResultRow<typeof READ_BACKEND>;

const fromBackend = ({ pid, startedAt }: Params<Backend>) =>
  sql`FROM pg_catalog.pg_stat_activity WHERE pid = ${pid} AND backend_start::text = ${startedAt}`;
const FIND_BACKEND = prepared(
  (_, backend: Params<Backend>) => sqlStatement`SELECT ${select(BACKEND)} ${fromBackend(backend)}`,
);
const CANCEL = prepared(
  (_, backend: Params<Backend>) =>
    sqlStatement`SELECT ${select({ done: sql<boolean>`pg_cancel_backend(pid)` })} ${fromBackend(backend)}`,
);
const TERMINATE = prepared(
  (_, backend: Params<Backend>) =>
    sqlStatement`SELECT ${select({ done: sql<boolean>`pg_terminate_backend(pid)` })} ${fromBackend(backend)}`,
);
const POLLS = 10;
const POLL_MS = 100;

const createClientBatch = (client: PoolClient) =>
  createAutocommitBatch(async <Result extends object>(text: string, values: readonly unknown[] = []) => {
    const { rows } = await client.query<Result>(text, [...values]);
    return rows;
  });

/**
 * Cancels a query from another connection, and terminates its server process if the query continues. Closing the connection of
 * the query is not enough, because a query may have turned its own time limit off.
 */
async function cancelAtServer(pool: Pool, backend: Backend): Promise<void> {
  const client = await pool.connect();
  const send = createClientBatch(client);
  try {
    for (const end of [CANCEL, TERMINATE]) {
      await send(end(backend));
      for (let poll = 0; poll < POLLS; poll += 1) {
        const [found] = await send(FIND_BACKEND(backend));
        if (found.length === 0) return;
        await pause(POLL_MS);
      }
    }
  } finally {
    client.release(true);
  }
}

/**
 * Creates a session for one query. It destroys the connection at the time limit, when the signal aborts, or when a batch is too
 * large.
 */
function createQuerySession(pool: Pool, client: PoolClient, { timeLimitMs, signal }: SqlQuery): QuerySession {
  const { stream } = client.connection;
  let stopReason: SqlQueryError | null = null;
  let bytes = 0;
  let backend: Backend | null = null;
  let isIdle = true;

  /** Stops the query by destroying its connection. The caller gets the error `reason`. */
  function stopQuery(reason: SqlQueryError): void {
    stopReason ??= reason;
    stream.destroy();
  }

  const timer = setTimeout(() => stopQuery(createTimeLimitError(timeLimitMs)), timeLimitMs);
  const onAbort = () => stopQuery(createAbortError());
  signal?.addEventListener('abort', onAbort, { once: true });
  const countBytes = (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes > MAX_BATCH_BYTES)
      stopQuery(createTooLargeError(`rows of it hold more than ${MAX_BATCH_BYTES / MB} MB`));
  };
  stream.on('data', countBytes);

  /**
   * Begins the read-only transaction of the query, and remembers the PostgreSQL server process that runs it, so that the query
   * can be cancelled. Throws `unsafe_role` if the database role may do more than read.
   */
  async function beginTransaction(): Promise<void> {
    try {
      await translateErrors(() => client.query(formatBegin(timeLimitMs)));
      const send = createClientBatch(client);
      const [[own]] = await send(READ_BACKEND());
      backend = own ?? null;
      const [[role]] = await send(READ_ROLE_PRIVILEGES());
      if (role !== undefined && role.privileges !== null)
        throw new SqlQueryError('unsafe_role', `Nothing is asked in SQL: ${describePrivileges(role)}.`);
    } catch (error) {
      throw stopReason ?? error;
    }
  }

  /**
   * Runs one statement and returns its rows. It uses the extended protocol, in which the server refuses a text of several
   * statements.
   */
  async function runStatement(text: string): Promise<RowBatch> {
    bytes = 0;
    const query = {
      text,
      rowMode: 'array' as const,
      queryMode: 'extended',
      types: { getTypeParser: getCellParser },
    };
    isIdle = false;
    try {
      const { fields, rows } = await client.query<Value[]>(query);
      isIdle = true;
      for (const row of rows) measureRow(row);
      return { columns: makeNamesUnique(fields.map(({ name }) => name)), rows, bytes };
    } catch (error) {
      throw stopReason ?? toQueryError(error, timeLimitMs);
    }
  }

  /**
   * Yields the rows of the first batch, and then of each batch that `fetchNext` returns. `fetchNext` is null if the first batch
   * is the only one.
   */
  async function* streamRows(
    first: RowBatch,
    fetchNext: ((limit: number) => Promise<RowBatch>) | null,
  ): AsyncGenerator<Row> {
    let batch = first;
    for (let limit = FIRST_BATCH_ROWS; ; ) {
      for (const cells of batch.rows) yield toRow(first.columns, cells);
      if (fetchNext === null || batch.rows.length < limit) return;
      limit = chooseBatchRows(limit, batch.bytes);
      batch = await fetchNext(limit);
    }
  }

  return {
    begin: async text => {
      if (signal?.aborted === true) throw createAbortError();
      await beginTransaction();
      if (/^explain\b/i.test(skipLeadingComments(text))) {
        const batch = await runStatement(text);
        return { columns: batch.columns, rows: streamRows(batch, null) };
      }
      await runStatement(`DECLARE answer NO SCROLL CURSOR FOR ${text}`);
      const fetchNext = (limit: number) => runStatement(`FETCH ${limit} FROM answer`);
      const batch = await fetchNext(FIRST_BATCH_ROWS);
      return { columns: batch.columns, rows: streamRows(batch, fetchNext) };
    },
    end: async () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      stream.off('data', countBytes);
      client.release(true);
      if (!isIdle && backend !== null) await cancelAtServer(pool, backend);
    },
  };
}

const FIRST_BATCH_ROWS = 10;

/** Returns how many rows to fetch next so that a batch has about `BATCH_BYTES`, given the rows and bytes of the last batch. */
function chooseBatchRows(lastRows: number, lastBytes: number): number {
  const fittingRows = Math.floor((lastRows * BATCH_BYTES) / Math.max(lastBytes, 1));
  return Math.max(1, Math.min(fittingRows, lastRows * 4, MAX_BATCH_ROWS));
}

function createTimeLimitError(ms: number): SqlQueryError {
  return new SqlQueryError('time_limit', `stopped after ${ms / 1000} s`);
}

function createTooLargeError(message: string): SqlQueryError {
  return new SqlQueryError('too_large', message);
}

/**
 * Returns an `SqlQueryError` for an error of the server or the connection, and for a `TooLargeError`, which a too large row
 * causes. Returns other errors unchanged.
 */
function toQueryError(error: unknown, timeLimitMs: number): unknown {
  if (error instanceof TooLargeError) return createTooLargeError(error.message);
  if (!(error instanceof Error) || !('code' in error)) return error;
  const code = String(error.code);
  const isOneOf = (codes: readonly string[]) => codes.some(each => code.startsWith(each));
  if (isOneOf(STOPPED_CODES)) return createTimeLimitError(timeLimitMs);
  if (isOneOf(OUT_OF_MEMORY)) return createTooLargeError(error.message);
  if (isOneOf(LOST_CODES) || !('severity' in error))
    return new SqlQueryError('ended', `The server has gone: ${error.message}`);
  return new SqlQueryError(isOneOf(UNKNOWN_NAME) ? 'unknown_name' : 'refused', error.message);
}
