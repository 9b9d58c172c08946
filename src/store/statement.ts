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

/** The statements of a batch by name. A skipped statement is null. */
export type NamedStatements = Readonly<Record<string, BoundStatement | null>>;
/** The rows of each statement of a batch, by the name of the statement. */
export type NamedResults<All extends NamedStatements> = {
  readonly [Name in keyof All]: All[Name] extends BoundStatement<infer Row> | null ? Row[] : never;
};

/** Runs two groups of named statements as one batch. Returns the rows of each statement, by group and name. */
export function batchByName<const First extends NamedStatements, const Second extends NamedStatements>(
  batch: RunBatch,
  first: First,
  second: Second,
): Promise<[NamedResults<First>, NamedResults<Second>]>;
/** Runs two groups of named statements as one batch. Returns the rows of each statement, by group and name. */
export async function batchByName(
  batch: RunBatch,
  first: NamedStatements,
  second: NamedStatements,
): Promise<[object, object]> {
  const rows = (await batch(...Object.values(first), ...Object.values(second))).values();
  const takeRows = (statements: NamedStatements) =>
    Object.fromEntries(Object.keys(statements).map(name => [name, rows.next().value]));
  return [takeRows(first), takeRows(second)];
}

/** A database of either engine. */
export interface Database {
  readonly dialect: Dialect;
  /** Runs statements that only read. They wait for no writer. */
  readonly read: RunBatch;
  /** Runs a transaction after all earlier ones. `work` must not wait for anything slow. */
  readonly transact: <T>(work: (batch: RunBatch) => Promise<T>) => Promise<T>;
}
