import type { Dialect } from '../dialect.js';
import type { Batch } from '../statement.js';

/** Where an inbox is kept. */
export interface InboxDatabase {
  readonly look: Batch;
  /** A whole transaction in one message: no statement is given what another answers. */
  readonly commit: Batch;
  /** What the clock says; null where the database's own is asked. */
  readonly now: () => string | null;
}

/** By the one clock, which each statement is given. */
export type Dated = { readonly now: string | null };

export const NOW = ({ clock }: Dialect): string => clock('@now');
