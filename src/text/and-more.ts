import { withThousands } from './thousands.js';

/** Of a list that somebody looks at; what takes it away takes all of it. */
export const MOST_SHOWN = 20;

/** Null where all of so many are shown. */
export function andMore(count: number): string | null {
  return count > MOST_SHOWN ? `and ${withThousands(count - MOST_SHOWN)} more` : null;
}
