import type { RunBatch } from '../statement.js';

/** The database of an inbox. */
export interface InboxDatabase {
  readonly read: RunBatch;
  /** Runs a whole transaction as one message, so no statement can use the rows of another. */
  readonly commit: RunBatch;
  /** Returns the current time. Returns null if statements use the clock of the database. */
  readonly now: () => string | null;
}

/** The current time as a parameter of a statement; null for the clock of the database. */
export type NowParam = { readonly now: string | null };
