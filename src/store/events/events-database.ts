import type { Database } from '../statement.js';

/** The database of subscriptions. */
export interface EventsDatabase extends Database {
  /** Returns the current time, or null to use the clock of the database, so that all senders agree on leases. */
  readonly now: () => string | null;
  readonly close: () => Promise<void>;
}
