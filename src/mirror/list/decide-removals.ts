import { LISTS } from '../../resources/lists.js';
import type { LookUpMissingRows } from '../mirror.js';
import type { ReadFault } from '../port/read.js';
import type { ListRef } from '../port/rows.js';
import type { MirrorPort } from '../port/mirror-port.js';
import type { SyncRequest } from '../port/sync.js';
import type { SyncSession } from '../sync-session.js';
import {
  COMPLETE,
  createPartialDecision,
  createUnconfirmedDecision,
  decideMissingRows,
  findMissingRows,
  type MissingRows,
  NO_VERSIONS,
  type RemovalCircumstances,
  type RemovalDecision,
} from './missing-rows.js';
import type { PageDigests } from './page-digests.js';
import type { ListComparison } from './list-comparison.js';
import { VersionSet } from './pending-writes.js';

/** A read of a list that has received and compared everything. */
interface FinishedRead {
  readonly port: MirrorPort;
  readonly list: ListRef;
  readonly sync: SyncSession;
  readonly request: SyncRequest;
  readonly comparison: Pick<
    ListComparison<never>,
    'seen' | 'distinctCount' | 'unseenCount' | 'fingerprints' | 'unreadable'
  >;
  readonly pages: PageDigests;
}

/** What the registry's answers said about the list as a whole. */
interface AnswerSummary {
  /** How many rows the list has; null if the registry does not say. */
  readonly total: number | null;
  /** Why the answers cannot be the whole list; null if nothing is wrong. */
  readonly flaw: ReadFault | null;
  readonly lookUpMissing: LookUpMissingRows | undefined;
  /** Undefined if the answers should have named their owner and did not. */
  readonly answersNameOrganization: boolean | undefined;
  /** Names the rows that could not be read; null if all could. */
  readonly unreadable: ReadFault | null;
}

/** It is unknown which rows were on the skipped pages, so the next pass must read every page. */
const ROWS_UNACCOUNTED: ReadFault = {
  code: 'rows_missing',
  message: 'some pages changed and some did not, and their rows do not add up to the list',
};

const OWNER_NOT_NAMED: ReadFault = {
  code: 'owner_untold',
  message:
    'the answer lacks rows and does not say whose list it is, unlike earlier answers; "sync --full" accepts it',
};

/** Decides whether a read saw the whole list, and which stored rows to remove because the registry no longer has them. */
export async function decideRemovals(read: FinishedRead, answers: AnswerSummary): Promise<RemovalDecision> {
  const { port, list, request, comparison, pages } = read;
  const { total, flaw } = answers;
  if (flaw !== null) return createPartialDecision(flaw);
  const { added, withoutKey } = comparison.unreadable;
  const rowsSeen = comparison.distinctCount + added + withoutKey;
  if (total !== null && total !== rowsSeen) {
    const message = `the registry counts ${total} rows, this read saw ${rowsSeen}`;
    return { ...createPartialDecision({ code: 'total_differs', message }), readAgain: true };
  }
  const hasUnaccountedRows =
    pages.skippedCount > 0 &&
    (comparison.unseenCount !== 0 || pages.mayHaveMissedRows(comparison.fingerprints.known));
  if (hasUnaccountedRows) return { ...createPartialDecision(ROWS_UNACCOUNTED), readAgain: true };
  if (comparison.unseenCount === 0 && request.full !== true) return COMPLETE;
  const missing = await findMissingRows(port, list, comparison.seen);
  if (missing.versions.size === 0) return COMPLETE;
  return (
    decideIfInconclusive(missing, read, answers) ??
    (await decideMissingRows(missing, collectCircumstances(read, answers.lookUpMissing)))
  );
}

/**
 * Returns a decision that removes no rows if an unreadable row may be one of the missing rows, or if the responses name no owner
 * although earlier ones did. Otherwise returns null.
 */
function decideIfInconclusive(
  missing: MissingRows,
  read: FinishedRead,
  { answersNameOrganization, unreadable }: AnswerSummary,
): RemovalDecision | null {
  // An unreadable row without a key may be any of the missing rows.
  if (read.comparison.unreadable.withoutKey > 0) return createUnconfirmedDecision(missing, unreadable);
  // Answers that name no owner, when earlier answers did, may belong to another organization.
  const lacksOwner = answersNameOrganization === undefined && read.sync.previousState.answersNameOrganization;
  return lacksOwner ? createPartialDecision(OWNER_NOT_NAMED) : null;
}

/** Collects facts about a read that decide whether missing rows count as removed, such as how many rows it saw. */
function collectCircumstances(
  read: FinishedRead,
  lookUpMissing: LookUpMissingRows | undefined,
): RemovalCircumstances {
  const { list, sync, comparison, pages } = read;
  const { rows, doubted } = sync.previousState;
  return {
    rowsBefore: rows,
    rowsSeen: comparison.distinctCount,
    isSingleAnswer: pages.comparedPages <= 1,
    isUnchanged: pages.isUnchanged,
    expiresByItself: LISTS[list.resource].rowsExpire === true,
    unconfirmedVersions: doubted === null ? NO_VERSIONS : VersionSet.unpack(doubted),
    unconfirmedForMs: measureUnconfirmedMs(read),
    lookUpMissing,
  };
}

/**
 * Returns for how many milliseconds missing rows have waited for a second read to confirm that they are removed: from the read that first
 * found them missing to the start of this read. Returns null if no removal waits to be confirmed, or if the clock was set back.
 */
function measureUnconfirmedMs({ sync, request }: FinishedRead): number | null {
  const { doubtedAt } = sync.previousState;
  if (doubtedAt === null) return null;
  const elapsedMs = request.startedAt - Date.parse(doubtedAt);
  // The clock was set back: the wait for the second read starts anew.
  return elapsedMs < 0 ? null : elapsedMs;
}
