import { setTimeout as delay } from 'node:timers/promises';
import { type StatementWithValues, SQLITE } from '../dialect.js';
import type { PreparedStatement, Values } from '../sql/prepared.js';
import type { BatchResults, BoundStatement, Batch, Database } from '../statement.js';
import { CHECKPOINT_BYTES } from './wal-state.js';
import { beginTransaction, type Sqlite } from './open-database.js';

/** Runs statements on one connection, in this thread or in another. */
export interface StatementRunner {
  readonly run: (all: readonly (StatementWithValues | null)[]) => unknown[][];
  /** Runs statements in the open transaction, or begins one. */
  readonly send: (all: readonly (StatementWithValues | null)[]) => unknown[][];
  /** Commits the open transaction, or rolls it back; does nothing if there is none. */
  readonly end: (isGood: boolean) => void;
}

/** A `StatementRunner` whose calls may be messages to another thread. */
export interface RunnerCalls {
  readonly read: (...given: Parameters<StatementRunner['run']>) => Promise<unknown[][]>;
  readonly begin: () => Promise<void>;
  readonly send: (...given: Parameters<StatementRunner['send']>) => unknown[][] | Promise<unknown[][]>;
  readonly end: (isGood: boolean) => Promise<void>;
}

/** Creates a runner that prepares each SQL text once. */
export function createStatementRunner(db: Sqlite): StatementRunner {
  const known = new Map<string, ReturnType<typeof prepare>>();
  const prepare = (text: string) => db.prepare(text);
  let transaction: ReturnType<typeof beginTransaction> | null = null;

  function getPrepared(text: string): ReturnType<typeof prepare> {
    const prepared = known.get(text) ?? prepare(text);
    known.set(text, prepared);
    return prepared;
  }

  function run(all: readonly (StatementWithValues | null)[]): unknown[][] {
    const answers: unknown[][] = all.map(() => []);
    for (const [n, bound] of all.entries()) {
      if (bound === null) continue;
      const prepared = getPrepared(bound.text);
      if (prepared.reader) answers[n] = prepared.all(bound.values);
      else for (const row of bound.rows ?? [bound.values]) prepared.run(row);
    }
    return answers;
  }

  return {
    run,
    send: all => {
      transaction ??= beginTransaction(db);
      return run(all);
    },
    end: isGood => {
      if (isGood) transaction?.commit();
      else transaction?.undo();
      transaction = null;
    },
  };
}

/** Creates a batch that runs its statements on one connection. */
export function createBatch(send: RunnerCalls['send']): Batch {
  function batch<const All extends readonly (BoundStatement | null)[]>(
    ...all: All
  ): Promise<BatchResults<All>>;
  async function batch(...all: readonly (BoundStatement | null)[]): Promise<unknown> {
    return await send(all.map(each => (each === null ? null : each.bind(SQLITE))));
  }
  return batch;
}

/** Creates a database that runs one transaction after the other. If reads share its connection (`isOne`), they wait. */
export function createQueuedDatabase(calls: RunnerCalls, isOne = false): Database {
  const batch = createBatch(calls.send);
  let last: Promise<unknown> = Promise.resolve();

  async function whole<T>(work: (given: Batch) => Promise<T>): Promise<T> {
    try {
      await calls.begin();
      const done = await work(batch);
      await calls.end(true);
      return done;
    } catch (error) {
      // Whoever ended the thread has told why.
      await calls.end(false).catch(() => undefined);
      throw error;
    }
  }

  return {
    dialect: SQLITE,
    read: createBatch(async all => {
      if (isOne) await last;
      return await calls.read(all);
    }),
    transact: work => {
      const done = last.then(() => whole(work));
      last = done.catch(() => undefined);
      return done;
    },
  };
}

/** Rows in one message. Copying all rows at once would block the sender. */
const ROWS_A_MESSAGE = 200;

export function splitLongBatches(send: RunnerCalls['send']): RunnerCalls['read'] {
  return async all => {
    const long = all.findIndex(each => (each?.rows?.length ?? 0) > ROWS_A_MESSAGE);
    const bound = all[long];
    if (bound?.rows === undefined) return await send(all);
    const first = { ...bound, rows: bound.rows.slice(0, ROWS_A_MESSAGE) };
    const before = await send([...all.slice(0, long), first]);
    const rest = { ...bound, rows: bound.rows.slice(ROWS_A_MESSAGE) };
    const [, ...after] = await splitLongBatches(send)([rest, ...all.slice(long + 1)]);
    return [...before, ...after];
  };
}

/** Keys come in no order: a cache that holds their index makes a first read of a long list twice as fast. */
const CACHE_KB = 32_000;

/** Enlarges cache and log of a connection that writes, so that pages that many commits touch are moved once. */
export function tuneForWriting(db: Sqlite): Sqlite {
  db.pragma(`cache_size = -${CACHE_KB}`);
  const pageBytes = Number(db.pragma('page_size', { simple: true }));
  db.pragma(`wal_autocheckpoint = ${Math.round(CHECKPOINT_BYTES / pageBytes)}`);
  return db;
}

const AGAIN_MS = 20;

/** Retries while the database is locked. Waits outside the driver, because the holder may need this thread. */
export async function retryWhileBusy(db: Sqlite, work: () => void): Promise<void> {
  const longestMs = Number(db.pragma('busy_timeout', { simple: true }));
  for (let waitedMs = 0; ; waitedMs += AGAIN_MS) {
    try {
      db.pragma('busy_timeout = 0');
      return work();
    } catch (error) {
      const isBusy =
        error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
      if (!isBusy || waitedMs >= longestMs) throw error;
    } finally {
      db.pragma(`busy_timeout = ${longestMs}`);
    }
    await delay(AGAIN_MS);
  }
}

/** Creates a database on one connection of this thread. Reads wait for the transaction before them. */
export function createDatabaseOn(db: Sqlite): Database {
  const works = createStatementRunner(db);
  const calls: RunnerCalls = {
    read: async all => works.run(all),
    begin: () => retryWhileBusy(db, () => works.send([])),
    send: works.run,
    end: async isGood => works.end(isGood),
  };
  return createQueuedDatabase(calls, true);
}

/** A statement on one connection, which runs synchronously. */
export interface SynchronousStatement<Given extends Values, Row> {
  /** Returns the number of changed rows. */
  run(values: Given): number;
  get(values: Given): Row | undefined;
  all(values: Given): Row[];
}

/** Prepares a statement on a connection. */
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
