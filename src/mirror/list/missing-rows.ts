import {
  CONFIRM_AFTER_MS,
  judgeMissingRows,
  MAX_ID_LOOKUPS,
  type RemovalEvidence,
  type RemovalVerdict,
} from './judge-missing-rows.js';
import type { LookUpMissingRows } from '../mirror.js';
import type { ReadFault } from '../port/read.js';
import type { ListRef } from '../port/rows.js';
import type { MirrorPort } from '../port/mirror-port.js';
import { VersionSet } from './version-set.js';

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
