/**
 * A list of at least this many rows that lost more than half of them is not believed until a second read agrees. The same
 * holds for any list that is suddenly empty, because an empty answer is the easiest mistake for a server to make.
 */
const MIN_ROWS_FOR_SHARE_LIMIT = 4;
const MAX_MISSING_SHARE = 0.5;
/** How long after the first read that lacked most rows a second read may confirm it. */
export const CONFIRM_AFTER_MS = 60_000;
/** At most this many missing rows are looked up by their ids. */
export const MAX_ID_LOOKUPS = 50;

/** The evidence of a complete read about the stored rows that it lacks. */
export interface RemovalEvidence {
  readonly missing: number;
  /** Rows that the mirror had before the read. */
  readonly rowsBefore: number;
  readonly rowsSeen: number;
  /** Whether the list came in one answer, so that no row can have moved between pages during the read. */
  readonly isSingleAnswer: boolean;
  /** Whether every page was exactly the same as in the previous read. */
  readonly isUnchanged: boolean;
  /** Missing rows that were looked up by id, and how many of them the registry still has. */
  readonly lookedUp: number;
  readonly stillExisting: number;
  /** Whether rows of this list expire on their own, so that a short or empty list is not suspicious. */
  readonly expiresByItself: boolean;
  /** How long ago a complete read first lacked most rows; null if none did. */
  readonly unconfirmedForMs: number | null;
}

/**
 * What the evidence says about the missing rows:
 * - `remove`: the missing rows are gone, except those that the registry still has.
 * - `read_again`: nothing is proved; read the list again.
 * - `unconfirmed`: most of the list is missing; a second read must agree.
 * - `wait`: a second read agrees, but too early to count.
 * - `remove_confirmed`: a second read agrees; the rows that both reads lacked are gone.
 */
export type RemovalVerdict = 'remove' | 'read_again' | 'unconfirmed' | 'wait' | 'remove_confirmed';

/** Returns a verdict on rows that a complete read did not see: remove them, wait, or read the list again. */
export function judgeMissingRows(evidence: RemovalEvidence): RemovalVerdict {
  if (isMostOfListMissing(evidence)) return judgeWhenMostMissing(evidence);
  if (evidence.lookedUp > 0 && evidence.missing <= evidence.lookedUp) return 'remove';
  if (evidence.stillExisting > 0) return 'read_again';
  return evidence.isSingleAnswer || evidence.isUnchanged ? 'remove' : 'read_again';
}

/** Whether so many rows are missing that the response may be wrong: all rows, or more than half. */
function isMostOfListMissing({ missing, rowsBefore, rowsSeen, expiresByItself }: RemovalEvidence): boolean {
  if (expiresByItself) return false;
  if (rowsSeen === 0) return true;
  return rowsBefore >= MIN_ROWS_FOR_SHARE_LIMIT && missing > rowsBefore * MAX_MISSING_SHARE;
}

/** Returns the verdict on a read that lacks most rows of a list. A second read must confirm that they are gone. */
function judgeWhenMostMissing({ stillExisting, unconfirmedForMs }: RemovalEvidence): RemovalVerdict {
  if (stillExisting > 0 || unconfirmedForMs === null) return 'unconfirmed';
  // The second read must be at least a minute after the first.
  return unconfirmedForMs < CONFIRM_AFTER_MS ? 'wait' : 'remove_confirmed';
}
