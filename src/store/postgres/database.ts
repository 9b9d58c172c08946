import { POSTGRES } from '../dialect.js';
import { type BatchResults, type BoundStatement, type RunBatch, type Database } from '../statement.js';
import type { Postgres, RunQuery, SendBatch } from './open-postgres.js';

/** Creates a `RunBatch` function from a function that sends statements with their values in one message. */
export function createBatch(send: SendBatch): RunBatch {
  function runBatch<const All extends readonly (BoundStatement | null)[]>(
    ...statements: All
  ): Promise<BatchResults<All>>;
  /** Sends the statements that are not null in one message. Returns the rows of each statement, and no rows for null. */
  async function runBatch(...statements: readonly (BoundStatement | null)[]): Promise<unknown> {
    const sent = statements.filter(statement => statement !== null);
    const results = sent.length === 0 ? [] : await send(sent.map(statement => statement.bind(POSTGRES)));
    const remaining = results.values();
    return statements.map(statement => (statement === null ? [] : remaining.next().value));
  }
  return runBatch;
}

/** Creates a `RunBatch` function that runs each statement in a transaction of its own. A `timeoutMs` of 0 sets no limit. */
export function createAutocommitBatch(query: RunQuery, timeoutMs = 0): RunBatch {
  return createBatch(all =>
    Promise.all(all.map(({ text, values }) => query<object>(text, values, timeoutMs))),
  );
}

/** Adapts a pool of PostgreSQL connections to `Database`, the interface that both engines implement. */
export function toDatabase({ query, transact }: Postgres): Database {
  return {
    dialect: POSTGRES,
    read: createAutocommitBatch(query),
    transact: work => transact((_, send) => work(createBatch(send))),
  };
}
