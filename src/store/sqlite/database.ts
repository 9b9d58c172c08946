import { setTimeout as delay } from 'node:timers/promises';
import { createDatabase, type Database } from '../database.js';
import { type Bound, SQLITE } from '../dialect.js';
import { LONGEST_LOG_BYTES } from './log-state.js';
import { begin, type Sqlite } from './open.js';
import type { Turns } from './turns.js';

/** What a connection does, here or in a thread of its own. */
export interface Works {
  readonly look: (all: readonly Bound[]) => unknown[][];
  /** Begins a transaction where none is under way. */
  readonly send: (all: readonly Bound[]) => unknown[][];
  /** The transaction that was begun, where one was. */
  readonly end: (isGood: boolean) => void;
}

/** The same, asked for by messages. */
export type Calls = {
  readonly [Name in keyof Works]: (...given: Parameters<Works[Name]>) => Promise<ReturnType<Works[Name]>>;
};

/** Each text is prepared once. */
export function createWorks(db: Sqlite): Works {
  const known = new Map<string, ReturnType<typeof prepare>>();
  const prepare = (text: string) => db.prepare(text);
  let transaction: ReturnType<typeof begin> | null = null;

  function run({ text, values, rows }: Bound): unknown[] {
    const prepared = known.get(text) ?? prepare(text);
    known.set(text, prepared);
    if (prepared.reader) return prepared.all(values);
    for (const row of rows ?? [values]) prepared.run(row);
    return [];
  }

  return {
    look: all => all.map(run),
    send: all => {
      transaction ??= begin(db);
      return all.map(run);
    },
    end: isGood => {
      if (isGood) transaction?.commit();
      else transaction?.undo();
      transaction = null;
    },
  };
}

/** Written on one connection, one transaction after the other, and looked at on another. */
export function databaseOf({ look, send, end }: Calls, turns: Turns): Database {
  return createDatabase({
    dialect: SQLITE,
    look,
    open: async () => {
      const release = await turns.take();
      return {
        send,
        commit: async () => {
          await end(true);
          release();
        },
        undo: async () => {
          // Whoever ended the thread has told why.
          await end(false).catch(() => undefined);
          release();
        },
      };
    },
  });
}

/** Rows that go into one message: to copy all at once would hold up whoever sends them. */
const ROWS_A_MESSAGE = 200;

export function inParts(send: Calls['send']): Calls['send'] {
  return async all => {
    const long = all.findIndex(({ rows = [] }) => rows.length > ROWS_A_MESSAGE);
    const bound = all[long];
    if (bound?.rows === undefined) return await send(all);
    const first = { ...bound, rows: bound.rows.slice(0, ROWS_A_MESSAGE) };
    const before = await send([...all.slice(0, long), first]);
    const rest = { ...bound, rows: bound.rows.slice(ROWS_A_MESSAGE) };
    const [, ...after] = await inParts(send)([rest, ...all.slice(long + 1)]);
    return [...before, ...after];
  };
}

/** Keys come in no order: a cache that holds their index makes a first read of a long list twice as fast. */
const CACHE_KB = 32_000;

/** For whoever writes the mirror: what many commits touch is moved once. */
export function tuned(db: Sqlite): Sqlite {
  db.pragma(`cache_size = -${CACHE_KB}`);
  const pageBytes = Number(db.pragma('page_size', { simple: true }));
  db.pragma(`wal_autocheckpoint = ${Math.round(LONGEST_LOG_BYTES / pageBytes)}`);
  return db;
}

const AGAIN_MS = 20;

/** Who holds the lock may need this thread to come to an end: it is not waited for in the driver. */
export async function patiently(db: Sqlite, work: () => void): Promise<void> {
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

/** On one connection of this thread: who looks waits for whoever writes. */
export function databaseOn(db: Sqlite): Database {
  const works = createWorks(db);
  const calls: Calls = {
    look: async all => {
      await db.turns.wait();
      return works.look(all);
    },
    send: async all => {
      if (!db.inTransaction) await patiently(db, () => works.send([]));
      return works.send(all);
    },
    end: async isGood => works.end(isGood),
  };
  return databaseOf(calls, db.turns);
}
