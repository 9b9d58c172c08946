import { LISTS } from '../../resources/lists.js';
import type { FindMissing } from '../mirror.js';
import type { ReadFault, ListRef, MirrorPort, SyncRequest } from '../port.js';
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
} from './removal-decision.js';
import type { PageDigests } from './page-digests.js';
import type { ListComparison } from './list-comparison.js';
import { VersionSet } from './version-set.js';

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
  /** Why the answers are not the whole list. */
  readonly flaw: ReadFault | null;
  readonly findGone: FindMissing | undefined;
  readonly ownerNamed: boolean | undefined;
  /** Lists the rows that could not be read. */
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

/** Decides how a read ends and which rows that it did not see are closed. */
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
    (comparison.unseenCount !== 0 || pages.hasOtherRows(comparison.fingerprints.known));
  if (hasUnaccountedRows) return { ...createPartialDecision(ROWS_UNACCOUNTED), readAgain: true };
  if (comparison.unseenCount === 0 && request.full !== true) return COMPLETE;
  return await decideOnMissing(await findMissingRows(port, list, comparison.seen), read, answers);
}

/**
 * Decides what happens to missing rows, unless the answer cannot prove anything: an unreadable row without a key may be
 * any of them, and an answer that does not name its owner, when earlier ones did, may be another organization's.
 */
async function decideOnMissing(
  missing: MissingRows,
  read: FinishedRead,
  { findGone, ownerNamed, unreadable }: AnswerSummary,
): Promise<RemovalDecision> {
  if (missing.versions.size === 0) return COMPLETE;
  if (read.comparison.unreadable.withoutKey > 0) return createUnconfirmedDecision(missing, unreadable);
  if (ownerNamed === undefined && read.sync.previousState.isOwnerNamed) {
    return createPartialDecision(OWNER_NOT_NAMED);
  }
  return decideMissingRows(missing, toCircumstances(read, findGone));
}

/** Collects what a read knows besides the missing rows themselves. */
function toCircumstances(read: FinishedRead, findGone: FindMissing | undefined): RemovalCircumstances {
  const { list, sync, comparison, pages } = read;
  const { rows, doubted } = sync.previousState;
  return {
    rowsBefore: rows,
    rowsSeen: comparison.distinctCount,
    isSingleAnswer: pages.comparedPages <= 1,
    isUnchanged: pages.isUnchanged,
    expiresByItself: LISTS[list.resource].expiresByItself === true,
    doubted: doubted === null ? NO_VERSIONS : VersionSet.unpack(doubted),
    doubtedForMs: measureDoubt(read),
    findGone,
  };
}

/** Returns how long rows have been doubted; null if none are, or if the clock was set back and the doubt starts anew. */
function measureDoubt({ sync, request }: FinishedRead): number | null {
  const { doubtedAt } = sync.previousState;
  if (doubtedAt === null) return null;
  const elapsedMs = request.startedAt - Date.parse(doubtedAt);
  return elapsedMs < 0 ? null : elapsedMs;
}
