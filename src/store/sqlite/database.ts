import { setTimeout as delay } from 'node:timers/promises';
import { type StatementWithValues, SQLITE } from '../dialect.js';
import type { PreparedStatement, Values } from '../sql/prepared.js';
import type { BatchResults, BoundStatement, RunBatch, Database } from '../statement.js';
import { CHECKPOINT_BYTES } from './wal-state.js';
import { beginTransaction, type Sqlite } from './open-database.js';

type Statements = readonly (StatementWithValues | null)[];
/** Runs statements in order and returns the rows of each. Skips a null statement, which has no rows. */
type RunStatements = (statements: Statements) => unknown[][];
/** Does the same, perhaps by messages to another thread. */
type RunStatementsAsync = (statements: Statements) => unknown[][] | Promise<unknown[][]>;

/** Runs statements and transactions on one connection. */
export interface StatementRunner {
  readonly run: RunStatements;
  /** Runs statements in the open transaction. Begins a transaction if none is open. */
  readonly runInTransaction: RunStatements;
  /** Commits or rolls back the open transaction. Does nothing if there is none. */
  readonly endTransaction: (commits: boolean) => void;
}

/** A `StatementRunner` whose calls may be messages to another thread. `read` may use a connection of its own. */
export interface AsyncStatementRunner {
  readonly read: RunStatementsAsync;
  readonly beginTransaction: () => Promise<void>;
  readonly runInTransaction: RunStatementsAsync;
  readonly endTransaction: (commits: boolean) => Promise<void>;
}

/** Creates a `StatementRunner` on a connection. The runner prepares each SQL text only once, and remembers the open transaction. */
export function createStatementRunner(db: Sqlite): StatementRunner {
  const known = new Map<string, ReturnType<typeof prepare>>();
  const prepare = (text: string) => db.prepare(text);
  let transaction: ReturnType<typeof beginTransaction> | null = null;

  /** Returns the prepared statement for an SQL text. Prepares it at its first use. */
  function getPrepared(text: string): ReturnType<typeof prepare> {
    const prepared = known.get(text) ?? prepare(text);
    known.set(text, prepared);
    return prepared;
  }

  /** Runs statements in order and returns the rows of each. Skips a null statement, which has no rows. */
  function runStatements(statements: Statements): unknown[][] {
    const results: unknown[][] = statements.map(() => []);
    for (const [index, bound] of statements.entries()) {
      if (bound === null) continue;
      const prepared = getPrepared(bound.text);
      if (prepared.reader) results[index] = prepared.all(bound.values);
      else for (const row of bound.rows ?? [bound.values]) prepared.run(row);
    }
    return results;
  }

  return {
    run: runStatements,
    runInTransaction: statements => {
      transaction ??= beginTransaction(db);
      return runStatements(statements);
    },
    endTransaction: commits => {
      if (commits) transaction?.commit();
      else transaction?.rollBack();
      transaction = null;
    },
  };
}

/** Creates a `RunBatch`: a function that binds statements for SQLite, passes them to `send` and returns the rows of each. */
export function createBatch(send: RunStatementsAsync): RunBatch {
  function batch<const All extends readonly (BoundStatement | null)[]>(
    ...all: All
  ): Promise<BatchResults<All>>;
  async function batch(...all: readonly (BoundStatement | null)[]): Promise<unknown> {
    return await send(all.map(each => (each === null ? null : each.bind(SQLITE))));
  }
  return batch;
}

/**
 * Creates a `Database` object that runs one transaction after the other. With `sharesConnection`, reads use the connection of the
 * transactions. A read then waits until the transactions before it have ended, because otherwise it would see uncommitted rows.
 */
export function createQueuedDatabase(runner: AsyncStatementRunner, sharesConnection = false): Database {
  const batch = createBatch(runner.runInTransaction);
  let last: Promise<unknown> = Promise.resolve();

  /** Runs `work` in a transaction. Commits at the end, and rolls back if `work` throws. */
  async function runTransaction<T>(work: (batch: RunBatch) => Promise<T>): Promise<T> {
    try {
      await runner.beginTransaction();
      const done = await work(batch);
      await runner.endTransaction(true);
      return done;
    } catch (error) {
      // A rollback fails only if the thread has ended, which is reported elsewhere.
      await runner.endTransaction(false).catch(() => undefined);
      throw error;
    }
  }

  return {
    dialect: SQLITE,
    read: createBatch(async all => {
      if (sharesConnection) await last;
      return await runner.read(all);
    }),
    transact: work => {
      const done = last.then(() => runTransaction(work));
      last = done.catch(() => undefined);
      return done;
    },
  };
}

/** The number of rows in one message to a thread. Copying more rows at once would block the sender. */
const ROWS_PER_MESSAGE = 200;

/**
 * Wraps a function that sends statements to another thread, so that it sends an INSERT of many rows as several messages, one after
 * the other.
 */
export function splitLargeInserts(send: RunStatementsAsync): RunStatementsAsync {
  return async all => {
    const long = all.findIndex(each => (each?.rows?.length ?? 0) > ROWS_PER_MESSAGE);
    const bound = all[long];
    if (bound?.rows === undefined) return await send(all);
    const first = { ...bound, rows: bound.rows.slice(0, ROWS_PER_MESSAGE) };
    const before = await send([...all.slice(0, long), first]);
    const rest = { ...bound, rows: bound.rows.slice(ROWS_PER_MESSAGE) };
    const [, ...after] = await splitLargeInserts(send)([rest, ...all.slice(long + 1)]);
    return [...before, ...after];
  };
}

/** Rows arrive in random key order. A cache that holds the whole index makes the first read of a long list twice as fast. */
const CACHE_KB = 32_000;

/** Enlarges the page cache and the write-ahead log of a connection that writes. Returns the connection. */
export function tuneForWriting(db: Sqlite): Sqlite {
  // With a larger log, a checkpoint copies a page once, even if many commits changed it.
  db.pragma(`cache_size = -${CACHE_KB}`);
  const pageBytes = Number(db.pragma('page_size', { simple: true }));
  db.pragma(`wal_autocheckpoint = ${Math.round(CHECKPOINT_BYTES / pageBytes)}`);
  return db;
}

const RETRY_INTERVAL_MS = 20;

/**
 * Runs `work`, and retries it while the database is locked, at most for the busy timeout of the connection. The wait does not
 * block this thread, because a connection of the same thread may hold the lock.
 */
export async function retryWhileBusy(db: Sqlite, work: () => void): Promise<void> {
  const timeoutMs = Number(db.pragma('busy_timeout', { simple: true }));
  for (let waitedMs = 0; ; waitedMs += RETRY_INTERVAL_MS) {
    try {
      db.pragma('busy_timeout = 0');
      return work();
    } catch (error) {
      const isBusy =
        error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
      if (!isBusy || waitedMs >= timeoutMs) throw error;
    } finally {
      db.pragma(`busy_timeout = ${timeoutMs}`);
    }
    await delay(RETRY_INTERVAL_MS);
  }
}

/** Creates a `Database` on one connection of this thread. A read waits for the transactions that began before it. */
export function createDatabaseOn(db: Sqlite): Database {
  const runner = createStatementRunner(db);
  const asyncRunner: AsyncStatementRunner = {
    read: async all => runner.run(all),
    beginTransaction: () => retryWhileBusy(db, () => runner.runInTransaction([])),
    runInTransaction: runner.run,
    endTransaction: async commits => runner.endTransaction(commits),
  };
  return createQueuedDatabase(asyncRunner, true);
}

/** A prepared statement of one connection. It runs synchronously. */
export interface SynchronousStatement<Given extends Values, Row> {
  /** Returns the number of changed rows. */
  run(values: Given): number;
  get(values: Given): Row | undefined;
  all(values: Given): Row[];
}

/** Binds a prepared statement to a connection and returns functions that run it synchronously. */
export function prepareOn<Given extends Values, Row>(
  db: Sqlite,
  statement: PreparedStatement<Given, Row>,
): SynchronousStatement<Given, Row> {
  const { text, bind } = statement.compileFor(SQLITE);
  const prepared = db.prepare<unknown[], Row>(text);
  return {
    run: values => prepared.run(bind(values)).changes,
    get: values => prepared.get(bind(values)),
    all: values => prepared.all(bind(values)),
  };
}
