import type { StatementWithValues, Dialect } from './dialect.js';

/** A statement with its values. `bind` creates the text for an engine. `Row` is the type of the rows that it returns. */
export interface BoundStatement<Row = unknown> {
  readonly bind: (dialect: Dialect) => StatementWithValues;
  /** Never set. It carries the type of the rows. */
  readonly rows?: Row[];
}

/** The rows of each statement of a batch. A skipped statement has none. */
export type BatchResults<All extends readonly (BoundStatement | null)[]> = {
  -readonly [Each in keyof All]: All[Each] extends BoundStatement<infer Row> | null ? Row[] : never;
};

/**
 * Sends several statements to a database as one message, which runs them in order. Returns the rows of each. Skips null. The caller
 * gets all rows at the end, so it cannot use the rows of one statement in the next.
 */
export type RunBatch = <const All extends readonly (BoundStatement | null)[]>(
  ...all: All
) => Promise<BatchResults<All>>;

type NamedStatements = Readonly<Record<string, BoundStatement | null>>;
type NamedResults<All extends NamedStatements> = {
  readonly [Name in keyof All]: All[Name] extends BoundStatement<infer Row> | null ? Row[] : never;
};

/** Runs a batch and returns the rows of each statement by its name. */
export function batchByName<const All extends NamedStatements>(
  batch: RunBatch,
  statements: All,
): Promise<NamedResults<All>>;
/** Runs the statements as one batch and returns an object with the rows of each under the name of the statement. */
export async function batchByName(batch: RunBatch, statements: NamedStatements): Promise<object> {
  const results = await batch(...Object.values(statements));
  return Object.fromEntries(Object.keys(statements).map((name, index) => [name, results[index]]));
}

/** A database of either engine. */
export interface Database {
  readonly dialect: Dialect;
  /** Runs statements that only read. They wait for no writer. */
  readonly read: RunBatch;
  /** Runs a transaction after all earlier ones. `work` must not wait for anything slow. */
  readonly transact: <T>(work: (batch: RunBatch) => Promise<T>) => Promise<T>;
}
