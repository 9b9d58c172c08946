import { type CompiledQuery, type DatabaseConnection, type Dialect, type Driver, Kysely } from 'kysely';
import type { Tables } from './contract/tables.js';

/** One connection, for as long as somebody asks on it. */
export interface Asking {
  readonly ask: <R extends object>(text: string, given: readonly unknown[]) => Promise<R[]>;
  /** The same, some rows at a time. */
  readonly stream: <R extends object>(
    text: string,
    given: readonly unknown[],
    size: number,
  ) => AsyncIterable<R[]>;
  readonly end: () => Promise<void>;
}

/** How an engine is asked by readers. */
export interface Readable extends Omit<Dialect, 'createDriver'> {
  readonly take: () => Promise<Asking>;
  /** What begins and ends a moment of which several questions are asked. */
  readonly run: (text: 'BEGIN' | 'COMMIT' | 'ROLLBACK') => void;
}

export function createReaderDb(readable: Readable): Kysely<Tables> {
  return new Kysely<Tables>({ dialect: { ...readable, createDriver: () => createDriver(readable) } });
}

function createDriver({ take, run }: Readable): Driver {
  const held = new WeakMap<DatabaseConnection, Asking>();
  return {
    init: async () => undefined,
    acquireConnection: async () => {
      const asking = await take();
      const connection = connect(asking);
      held.set(connection, asking);
      return connection;
    },
    beginTransaction: async () => run('BEGIN'),
    commitTransaction: async () => run('COMMIT'),
    rollbackTransaction: async () => run('ROLLBACK'),
    releaseConnection: async connection => held.get(connection)?.end(),
    destroy: async () => undefined,
  };
}

function connect({ ask, stream }: Asking): DatabaseConnection {
  return {
    executeQuery: async <R>({ sql, parameters }: CompiledQuery) => ({
      rows: await ask<R & object>(sql, parameters),
    }),
    async *streamQuery<R>({ sql, parameters }: CompiledQuery, size = 1) {
      for await (const rows of stream<R & object>(sql, parameters, size)) yield { rows };
    },
  };
}
