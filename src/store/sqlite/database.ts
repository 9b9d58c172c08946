import { createDatabase, type Database } from '../database.js';
import { type Bound, SQLITE } from '../dialect.js';
import { begin, type Sqlite } from './open.js';
import type { Turns } from './turns.js';

/** What a connection does, here or in a thread of its own. */
export interface Works {
  /** Begins a transaction first, where it is to. */
  readonly send: (all: readonly Bound[], begins: boolean) => unknown[][];
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
    send: (all, begins) => {
      if (begins) transaction = begin(db);
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
export function databaseOf(writer: Calls, reader: Pick<Calls, 'send'>, turns: Turns): Database {
  return createDatabase({
    dialect: SQLITE,
    look: all => reader.send(all, false),
    open: async () => {
      const release = await turns.take();
      let begins = true;
      return {
        send: all => {
          const sent = writer.send(all, begins);
          begins = false;
          return sent;
        },
        commit: async () => {
          await writer.end(true);
          release();
        },
        undo: async () => {
          // Whoever ended the thread has told why.
          await writer.end(false).catch(() => undefined);
          release();
        },
      };
    },
  });
}

/** On one connection of this thread: who looks waits for whoever writes. */
export function databaseOn(db: Sqlite): Database {
  const works = createWorks(db);
  const calls: Calls = {
    send: async (...given) => works.send(...given),
    end: async isGood => works.end(isGood),
  };
  const send: Calls['send'] = (...given) => db.turns.wait().then(() => works.send(...given));
  return databaseOf(calls, { send }, db.turns);
}
