import type { Dialect } from './dialect.js';
import { type Batch, createBatch, createBinder, type Send } from './statement.js';

/** A transaction of its own on some connection; it begins with what is sent first. */
interface Session {
  readonly send: Send;
  readonly commit: () => Promise<void>;
  /** Never throws. */
  readonly undo: () => Promise<void>;
}

/** Where statements of both engines are done. */
export interface Database {
  readonly dialect: Dialect;
  /** What only looks: it waits for no writer. */
  readonly look: Batch;
  /** All of it or nothing, after every transaction that was asked for before. Nothing slow is awaited inside. */
  readonly transact: <T>(work: (batch: Batch) => Promise<T>) => Promise<T>;
}

export interface DatabaseParts {
  readonly dialect: Dialect;
  readonly look: Send;
  readonly open: () => Promise<Session>;
}

export function createDatabase({ dialect, look, open }: DatabaseParts): Database {
  const bind = createBinder(dialect);
  return {
    dialect,
    look: createBatch(bind, look),
    transact: async work => {
      const session = await open();
      try {
        const done = await work(createBatch(bind, session.send));
        await session.commit();
        return done;
      } catch (error) {
        await session.undo();
        throw error;
      }
    },
  };
}
