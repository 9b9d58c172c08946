/**
 * A list of at least this many rows that lost more than half of them is not believed at once;
 * nor is one that is wholly empty, whatever its length was: nothing is easier to answer by mistake.
 */
const GATE_ROWS = 4;
const GATE_SHARE = 0.5;
/** How long after a read that lacks most rows a second one may confirm it. */
export const AGREE_AFTER_MS = 60_000;
/** As many missing rows are asked for by their id. */
export const ASK_AT_MOST = 50;

/** What a complete read knows about the rows that it did not find. */
export interface Evidence {
  readonly missing: number;
  /** Rows that were there before the read. */
  readonly before: number;
  /** Rows that the read found. */
  readonly seen: number;
  /** One answer, which cannot have shifted under the reader. */
  readonly isSnapshot: boolean;
  /** Every page stood exactly as the read before had found it. */
  readonly isQuiet: boolean;
  readonly asked: number;
  /** How many of those the registry still knows. */
  readonly alive: number;
  /** Its rows come to an end without anybody taking them away: few or none left is no sign of a bad answer. */
  readonly endsByNature: boolean;
  /** How long ago a complete read first lacked most rows; null where none did. */
  readonly doubtedForMs: number | null;
}

/**
 * close: the missing rows are gone, but for those that are alive. keep: unproved, read once more.
 * doubt: most of the list is gone, a second read must agree. wait: it is too early for that.
 * close_doubted: it agrees, for the rows that both reads lacked.
 */
export type Judgement = 'close' | 'keep' | 'doubt' | 'wait' | 'close_doubted';

export function judge(evidence: Evidence): Judgement {
  if (tripsGate(evidence)) return judgeEmptied(evidence);
  if (evidence.asked > 0 && evidence.missing <= evidence.asked) return 'close';
  if (evidence.alive > 0) return 'keep';
  return evidence.isSnapshot || evidence.isQuiet ? 'close' : 'keep';
}

function tripsGate({ missing, before, seen, endsByNature }: Evidence): boolean {
  if (endsByNature) return false;
  return seen === 0 || (before >= GATE_ROWS && missing > before * GATE_SHARE);
}

function judgeEmptied({ alive, doubtedForMs }: Evidence): Judgement {
  if (alive > 0 || doubtedForMs === null) return 'doubt';
  return doubtedForMs < AGREE_AFTER_MS ? 'wait' : 'close_doubted';
}
