import { POSTGRES } from '../dialect.js';
import { type BatchResults, type BoundStatement, type Batch, type Database } from '../statement.js';
import type { Postgres, RunQuery, SendBatch } from './open-postgres.js';

/** Creates a `Batch` from a function that sends bound statements in one message. */
export function createBatch(send: SendBatch): Batch {
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

/** Creates a `Batch` that runs each statement in its own transaction. */
export function createAutocommitBatch(query: RunQuery, timeoutMs = 0): Batch {
  return createBatch(all =>
    Promise.all(all.map(({ text, values }) => query<object>(text, values, timeoutMs))),
  );
}

/** Adapts a pool to the interface that both engines implement. */
export function toDatabase({ query, transact }: Postgres): Database {
  return {
    dialect: POSTGRES,
    read: createAutocommitBatch(query),
    transact: work => transact((_, send) => work(createBatch(send))),
  };
}
