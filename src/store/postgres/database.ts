import { POSTGRES } from '../dialect.js';
import { type BatchResults, type BoundStatement, type Batch, type Database } from '../statement.js';
import type { Postgres, Query, Send } from './open-postgres.js';

/** Creates a batch that sends its statements as one message. */
export function createBatch(send: Send): Batch {
  function batch<const All extends readonly (BoundStatement | null)[]>(
    ...all: All
  ): Promise<BatchResults<All>>;
  async function batch(...all: readonly (BoundStatement | null)[]): Promise<unknown> {
    const statements = all.filter(each => each !== null);
    const results =
      statements.length === 0 ? [] : await send(statements.map(statement => statement.bind(POSTGRES)));
    const remaining = results.values();
    return all.map(each => (each === null ? [] : remaining.next().value));
  }
  return batch;
}

/** Creates a batch that runs each statement in its own transaction. */
export function createAutocommitBatch(query: Query, timeoutMs = 0): Batch {
  return createBatch(all =>
    Promise.all(all.map(({ text, values }) => query<object>(text, values, timeoutMs))),
  );
}

export function toDatabase({ query, transact }: Postgres): Database {
  return {
    dialect: POSTGRES,
    read: createAutocommitBatch(query),
    transact: work => transact((_, send) => work(createBatch(send))),
  };
}
