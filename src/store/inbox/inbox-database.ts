import type { Batch } from '../statement.js';

/** The database of an inbox. */
export interface InboxDatabase {
  readonly read: Batch;
  /** A whole transaction in one message: no statement can use the rows of another. */
  readonly commit: Batch;
  /** The time of the clock; null if the clock of the database is used. */
  readonly now: () => string | null;
}

/** The time that a statement is given; null for the clock of the database. */
export type AtTime = { readonly now: string | null };
