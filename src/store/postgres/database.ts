import { POSTGRES } from '../dialect.js';
import { type BatchResults, type BoundStatement, type RunBatch, type Database } from '../statement.js';
import type { Postgres, RunQuery, SendBatch } from './open-postgres.js';

/** Creates a `RunBatch` from a function that sends bound statements in one message. */
export function createBatch(send: SendBatch): RunBatch {
  function batch<const All extends readonly (BoundStatement | null)[]>(
    ...statements: All
  ): Promise<BatchResults<All>>;
  /** Returns the rows of each statement, and no rows for null. Sends nothing if all are null. */
  async function batch(...statements: readonly (BoundStatement | null)[]): Promise<unknown> {
    const sent = statements.filter(statement => statement !== null);
    const results = sent.length === 0 ? [] : await send(sent.map(statement => statement.bind(POSTGRES)));
    const remaining = results.values();
    return statements.map(statement => (statement === null ? [] : remaining.next().value));
  }
  return batch;
}

/** Creates a `RunBatch` that runs each statement in its own transaction. */
export function createAutocommitBatch(query: RunQuery, timeoutMs = 0): RunBatch {
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
