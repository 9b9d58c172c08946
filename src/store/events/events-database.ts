import type { Database } from '../statement.js';

/** The database of subscriptions. */
export interface EventsDatabase extends Database {
  /** The time of the clock; null if the clock of the database is used, so that all senders agree on leases. */
  readonly now: () => string | null;
  readonly close: () => Promise<void>;
}
