import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import { type StatementRows, SqlQueryError, createAbortError, type SqlQuery } from '../contract/sql-query.js';
import {
  assertReadOnlySql,
  sizeOf,
  TooLargeError,
  toRow,
  makeNamesUnique,
  skipLeadingComments,
} from '../contract/check-sql-query.js';
import type { Row, Value } from '../contract/tables.js';
import { select, sqlStatement } from '../sql/columns.js';
import { type Params, prepared, type ResultRow } from '../sql/prepared.js';
import { createAutocommitBatch } from './database.js';
import { getCellParser, createPool, type PoolOptions } from './driver.js';
import { translateErrors } from './translate-errors.js';
import { describePowers, READ_ROLE_POWERS } from './role-powers.js';

const MB = 1024 * 1024;
/** Rows are fetched in batches of about this size. */
const PART_BYTES = MB;
const MOST_ROWS = 500;
/** A batch larger than this closes the connection. */
const MAX_PART_BYTES = 32 * MB;

/** SQLSTATEs, or their prefixes. */
const STOPPED_CODES = ['57014', '25P03'];
const OUT_OF_MEMORY = ['53', '54'];
const LOST_CODES = ['08', '57P'];
/** SQLSTATEs of an unknown table and an unknown column. */
const UNKNOWN_NAME = ['42P01', '42703'];

/** Runs SQL in a read-only transaction and streams its rows. The server stops it at the time limit or when aborted. */
export async function runSqlQuery(options: PoolOptions, question: SqlQuery): Promise<StatementRows> {
  assertReadOnlySql(question.sql);
  const pool = createPool(options);
  try {
    const client = await translateErrors(() => pool.connect());
    const answer = beginAnswer(pool, client, question);
    try {
      const { columns, rows } = await answer.begin(question.sql);
      const close = async () => {
        await answer.end();
        await pool.end();
      };
      return { columns, rows: closeAfter(rows, close) };
    } catch (error) {
      await answer.end();
      throw error;
    }
  } catch (error) {
    await pool.end();
    throw error;
  }
}

async function* closeAfter(rows: AsyncIterable<Row>, close: () => Promise<void>): AsyncGenerator<Row> {
  try {
    yield* rows;
  } finally {
    await close();
  }
}

/** Begins the transaction. Queries may omit schema names, and instants do not depend on the server's settings. */
const begin = (timeLimitMs: number): string => `
  BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;
  SET LOCAL search_path = mirror, inbox;
  SET LOCAL DateStyle = 'ISO';
  SET LOCAL TimeZone = 'UTC';
  SET LOCAL bytea_output = 'hex';
  SET LOCAL statement_timeout = ${Math.ceil(timeLimitMs)};
  SET LOCAL idle_in_transaction_session_timeout = ${Math.ceil(timeLimitMs) + 1000};
  DO $$ BEGIN
    SET LOCAL client_connection_check_interval = 1000;
  EXCEPTION WHEN others THEN NULL; -- not on every system: the time limit holds there too
  END $$`;

interface Part {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Value[])[];
  readonly bytes: number;
}

interface Answer {
  begin(text: string): Promise<StatementRows>;
  end(): Promise<void>;
}

const BACKEND = {
  pid: sql<number>`pid`,
  startedAt: sql<string>`backend_start::text`,
};
const READ_BACKEND = prepared(
  () => sqlStatement`SELECT ${select(BACKEND)} FROM pg_catalog.pg_stat_activity WHERE pid = pg_backend_pid()`,
);
/** A process of the server. A pid can be reused, so the time of its start is compared, too. */
type Backend = ResultRow<typeof READ_BACKEND>;

const isBackend = ({ pid, startedAt }: Params<Backend>) =>
  sql`FROM pg_catalog.pg_stat_activity WHERE pid = ${pid} AND backend_start::text = ${startedAt}`;
const FIND_BACKEND = prepared(
  (_, backend: Params<Backend>) => sqlStatement`SELECT ${select(BACKEND)} ${isBackend(backend)}`,
);
const CANCEL = prepared(
  (_, backend: Params<Backend>) =>
    sqlStatement`SELECT ${select({ done: sql<boolean>`pg_cancel_backend(pid)` })} ${isBackend(backend)}`,
);
const TERMINATE = prepared(
  (_, backend: Params<Backend>) =>
    sqlStatement`SELECT ${select({ done: sql<boolean>`pg_terminate_backend(pid)` })} ${isBackend(backend)}`,
);
const POLLS = 10;
const POLL_MS = 100;

const createSendOn = (client: PoolClient) =>
  createAutocommitBatch(async <Result extends object>(text: string, values: readonly unknown[] = []) => {
    const { rows } = await client.query<Result>(text, [...values]);
    return rows;
  });

/** A query may have turned its own time limit off, so it is cancelled from another connection, and then terminated. */
async function endAtServer(pool: Pool, backend: Backend): Promise<void> {
  const client = await pool.connect();
  const send = createSendOn(client);
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

function beginAnswer(pool: Pool, client: PoolClient, { timeLimitMs, signal }: SqlQuery): Answer {
  const { stream } = client.connection;
  let why: SqlQueryError | null = null;
  let bytes = 0;
  let backend: Backend | null = null;
  let isIdle = true;

  function stop(reason: SqlQueryError): void {
    why ??= reason;
    stream.destroy();
  }

  const timer = setTimeout(() => stop(timeLimit(timeLimitMs)), timeLimitMs);
  const onAbort = () => stop(createAbortError());
  signal?.addEventListener('abort', onAbort, { once: true });
  const count = (chunk: Uint8Array) => {
    bytes += chunk.length;
    if (bytes > MAX_PART_BYTES)
      stop(createTooLargeError(`rows of it hold more than ${MAX_PART_BYTES / MB} MB`));
  };
  stream.on('data', count);

  async function prepare(): Promise<void> {
    try {
      await translateErrors(() => client.query(begin(timeLimitMs)));
      const send = createSendOn(client);
      const [[own]] = await send(READ_BACKEND());
      backend = own ?? null;
      const [[role]] = await send(READ_ROLE_POWERS());
      if (role !== undefined && role.powers !== null)
        throw new SqlQueryError('unsafe_role', `Nothing is asked in SQL: ${describePowers(role)}.`);
    } catch (error) {
      throw why ?? error;
    }
  }

  /** Runs one statement. `extended` makes the server refuse several in one text. */
  async function run(text: string): Promise<Part> {
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
      for (const row of rows) sizeOf(row);
      return { columns: makeNamesUnique(fields.map(({ name }) => name)), rows, bytes };
    } catch (error) {
      throw why ?? toQueryError(error, timeLimitMs);
    }
  }

  async function* read(first: Part, next: ((count: number) => Promise<Part>) | null): AsyncGenerator<Row> {
    let part = first;
    for (let asked = FIRST_ROWS; ; ) {
      for (const cells of part.rows) yield toRow(first.columns, cells);
      if (next === null || part.rows.length < asked) return;
      asked = nextCount(asked, part.bytes);
      part = await next(asked);
    }
  }

  return {
    begin: async text => {
      if (signal?.aborted === true) throw createAbortError();
      await prepare();
      if (/^explain\b/i.test(skipLeadingComments(text))) {
        const part = await run(text);
        return { columns: part.columns, rows: read(part, null) };
      }
      await run(`DECLARE answer NO SCROLL CURSOR FOR ${text}`);
      const next = (rows: number) => run(`FETCH ${rows} FROM answer`);
      const part = await next(FIRST_ROWS);
      return { columns: part.columns, rows: read(part, next) };
    },
    /** Closes the connection, which ends the transaction and the query. */
    end: async () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      stream.off('data', count);
      client.release(true);
      if (!isIdle && backend !== null) await endAtServer(pool, backend);
    },
  };
}

const FIRST_ROWS = 10;

function nextCount(count: number, bytes: number): number {
  const fittingCount = Math.floor((count * PART_BYTES) / Math.max(bytes, 1));
  return Math.max(1, Math.min(fittingCount, count * 4, MOST_ROWS));
}

function timeLimit(ms: number): SqlQueryError {
  return new SqlQueryError('time_limit', `stopped after ${ms / 1000} s`);
}

function createTooLargeError(what: string): SqlQueryError {
  return new SqlQueryError('too_large', what);
}

/** Converts an error of the server or the connection to an `SqlQueryError`. */
function toQueryError(error: unknown, timeLimitMs: number): unknown {
  if (error instanceof TooLargeError) return createTooLargeError(error.message);
  if (!(error instanceof Error) || !('code' in error)) return error;
  const code = String(error.code);
  const isOneOf = (codes: readonly string[]) => codes.some(each => code.startsWith(each));
  if (isOneOf(STOPPED_CODES)) return timeLimit(timeLimitMs);
  if (isOneOf(OUT_OF_MEMORY)) return createTooLargeError(error.message);
  if (isOneOf(LOST_CODES) || !('severity' in error))
    return new SqlQueryError('ended', `The server has gone: ${error.message}`);
  return new SqlQueryError(isOneOf(UNKNOWN_NAME) ? 'unknown_name' : 'refused', error.message);
}
