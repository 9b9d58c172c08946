import { withThousands } from './thousands.js';

/** Of a list that somebody looks at; what takes it away takes all of it. */
export const MOST_SHOWN = 20;

/** Null where all of so many are shown. */
export function andMore(count: number, most = MOST_SHOWN): string | null {
  return count > most ? `and ${withThousands(count - most)} more` : null;
}
