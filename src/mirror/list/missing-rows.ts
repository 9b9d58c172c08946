import type { LookUpMissingRows } from '../mirror.js';
import type { ReadFault } from '../port/read.js';
import type { ListRef } from '../port/rows.js';
import type { MirrorPort } from '../port/mirror-port.js';
import { VersionSet } from './pending-writes.js';

/**
 * A list of at least this many rows that lost more than half of them is not believed until a second read agrees. The same
 * holds for any list that is suddenly empty, because an empty answer is the easiest mistake for a server to make.
 */
const MIN_ROWS_FOR_SHARE_LIMIT = 4;
const MAX_MISSING_SHARE = 0.5;
/** How long after the first read that lacked most rows a second read may confirm it. */
export const CONFIRM_AFTER_MS = 60_000;
/** At most this many missing rows are looked up by their ids. */
const MAX_ID_LOOKUPS = 50;
const ROWS_PER_SCAN = 2_000;

/** Rows of the mirror that a complete read did not see. */
export interface MissingRows {
  readonly versions: VersionSet;
  /** The versions of the first missing rows by their ids, few enough to look them up at the registry. */
  readonly firstById: ReadonlyMap<string, number>;
}

/** How a read ends, and what happens to the rows that it did not see. */
export interface RemovalDecision {
  readonly state: 'complete' | 'partial' | 'removals_unconfirmed';
  readonly fault: ReadFault | null;
  readonly versionsToRemove: VersionSet;
  /** When the registry said that a row is gone; rows without an entry count as removed at the end of the read. */
  readonly goneAt: ReadonlyMap<number, number>;
  /** Removals that a second read must confirm. Null clears the stored ones, undefined leaves them. */
  readonly unconfirmedRemovals: VersionSet | null | undefined;
  readonly readAgain: boolean;
}

/** Everything besides the missing rows that the decision about them depends on. */
export interface RemovalCircumstances
  extends Omit<RemovalEvidence, 'missing' | 'lookedUp' | 'stillExisting'> {
  /** Rows that an earlier read lacked, and whose removal a second read must confirm. */
  readonly unconfirmedVersions: VersionSet;
  /** Looks up rows at the registry; undefined if rows of this list cannot be read by id. */
  readonly lookUpMissing: LookUpMissingRows | undefined;
}

export const NO_VERSIONS = new VersionSet();

/** Returns the stored rows of a list whose version numbers are not in `seen`, because the read did not see them. */
export async function findMissingRows(
  port: MirrorPort,
  list: ListRef,
  seen: VersionSet,
): Promise<MissingRows> {
  const versions = new VersionSet();
  const firstById = new Map<string, number>();
  let lastKey: readonly string[] | null = null;
  for (;;) {
    const rows = await port.listRowsAfter(list, lastKey, ROWS_PER_SCAN);
    for (const { version, key } of rows) {
      if (seen.has(version)) continue;
      versions.add(version);
      if (firstById.size < MAX_ID_LOOKUPS) firstById.set(key[0] ?? list.organizationId, version);
    }
    lastKey = rows.at(-1)?.key ?? null;
    if (rows.length < ROWS_PER_SCAN || lastKey === null) return { versions, firstById };
  }
}

/** Decides which missing rows to remove. If the registry can read rows of this list by id, first requests up to 50 of them. */
export async function decideMissingRows(
  missing: MissingRows,
  circumstances: RemovalCircumstances,
): Promise<RemovalDecision> {
  const { lookUpMissing } = circumstances;
  const existing = new VersionSet();
  const goneAt = new Map<number, number>();
  if (lookUpMissing !== undefined) {
    const goneAtById = await lookUpMissing([...missing.firstById.keys()]);
    for (const [id, version] of missing.firstById) {
      const at = goneAtById.get(id);
      if (at === undefined) existing.add(version);
      else goneAt.set(version, at);
    }
  }
  const verdict = judgeMissingRows({
    ...circumstances,
    missing: missing.versions.size,
    lookedUp: existing.size + goneAt.size,
    stillExisting: existing.size,
  });
  return { ...toDecision(verdict, missing.versions, existing, circumstances), goneAt };
}

/**
 * Converts a verdict on missing rows to the decision on which of them to remove. `existing` has those that the registry still
 * returns by id.
 */
function toDecision(
  verdict: RemovalVerdict,
  missing: VersionSet,
  existing: VersionSet,
  { unconfirmedVersions, isUnchanged }: RemovalCircumstances,
): RemovalDecision {
  if (verdict === 'remove') {
    const versionsToRemove = subtract(missing, existing);
    if (existing.size === 0 || isUnchanged) return { ...COMPLETE, versionsToRemove };
    const fault = createFault('rows_moved', existing.size);
    return { ...COMPLETE, state: 'partial', fault, versionsToRemove, readAgain: true };
  }
  if (verdict === 'read_again') {
    const fault = createFault('rows_missing', missing.size);
    return { ...COMPLETE, state: 'partial', fault, readAgain: true };
  }
  const isConfirmed = verdict === 'remove_confirmed';
  const unconfirmed = isConfirmed ? subtract(missing, unconfirmedVersions) : missing;
  const versionsToRemove = isConfirmed ? subtract(missing, unconfirmed) : NO_VERSIONS;
  if (unconfirmed.size === 0) return { ...COMPLETE, versionsToRemove };
  return {
    ...COMPLETE,
    state: 'removals_unconfirmed',
    fault: createFault('mostly_gone', unconfirmed.size),
    versionsToRemove,
    unconfirmedRemovals: verdict === 'wait' ? undefined : unconfirmed,
  };
}

/** The decision for a read that lacks no rows. */
export const COMPLETE: RemovalDecision = {
  state: 'complete',
  fault: null,
  versionsToRemove: NO_VERSIONS,
  goneAt: new Map(),
  unconfirmedRemovals: null,
  readAgain: false,
};

/** Returns a decision that removes no rows, because the read did not see the whole list. */
export function createPartialDecision(fault: ReadFault): RemovalDecision {
  return { ...COMPLETE, state: 'partial', fault, unconfirmedRemovals: undefined };
}

/**
 * Returns a decision that removes no missing row from the mirror yet: a later read must confirm all removals. `unreadableFault`
 * says which rows could not be read; with null, the decision gets a general message.
 */
export function createUnconfirmedDecision(
  { versions }: MissingRows,
  unreadableFault: ReadFault | null,
): RemovalDecision {
  const { code, message } = unreadableFault ?? { code: 'rows_unreadable', message: 'rows could not be read' };
  return {
    ...COMPLETE,
    state: 'removals_unconfirmed',
    fault: { code, message: `${message}; ${versions.size} rows are missing and may be among them` },
    unconfirmedRemovals: versions,
  };
}

const FAULT_MESSAGES = {
  rows_moved: 'missing from the list, but the registry still has them',
  rows_missing: 'missing from a list that changed during the read',
  mostly_gone: `missing: more than half of the list, or all of it. They are closed when a second read confirms it, at least ${CONFIRM_AFTER_MS / 1000} s after the first`,
} as const;

/** Creates a fault such as "3 rows are missing from a list that changed during the read". */
function createFault(code: keyof typeof FAULT_MESSAGES, rowCount: number): ReadFault {
  return { code, message: `${rowCount} rows are ${FAULT_MESSAGES[code]}` };
}

/** Returns the version numbers that are in `versions` but not in `excluded`. */
function subtract(versions: VersionSet, excluded: VersionSet): VersionSet {
  if (excluded.size === 0) return versions;
  const remaining = new VersionSet();
  for (const version of versions.values()) if (!excluded.has(version)) remaining.add(version);
  return remaining;
}

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
