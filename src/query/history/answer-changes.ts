/** Answers which changes were observed: all of them in the order of their numbers, or the newest. */
import type { Reader } from '../../store/contract/reader.js';
import type { Change } from '../../text/describe-change.js';
import { type Answer, type AnswerNotes, type Coverage, type Totals, streamOf } from '../answer/answer.js';
import { countInstalled, readListCoverage } from '../coverage.js';
import {
  type ChangeRangeRequest,
  type ChangeRow,
  INSTALLATION,
  readBetween,
  readChanges,
  readLastNumber,
  readNewest,
} from './changes.js';

/** Answers with all changes in the order of their numbers. If `after` is not null, answers only with changes that have a higher number. */
export async function answerChanges(
  reader: Reader,
  request: ChangeRangeRequest,
  after: number | null,
): Promise<Answer<ChangeRow>> {
  const rows =
    after === null
      ? readChanges(reader, request)
      : readBetween(reader, request, after, await readLastNumber(reader));
  return { ...(await readNotes(reader, request, null)), rows };
}

interface NewestChanges extends Answer<Change> {
  readonly totals: Totals;
  /** The number below which the next changes are. Null if these are the last. */
  readonly next: number | null;
}

/** Answers with the newest changes, or with the newest of those that have a number below `before`. */
export async function answerNewestChanges(
  reader: Reader,
  request: ChangeRangeRequest,
  { before, limit }: { readonly before: number | null; readonly limit: number },
): Promise<NewestChanges> {
  const found = await readNewest(reader, request, before, limit + 1);
  const changes = found.slice(0, limit);
  const hasMore = found.length > limit;
  const totals = { rows: changes.length, hasMore, amounts: null, rowsWithoutAmount: 0 };
  return {
    ...(await readNotes(reader, request, totals)),
    rows: streamOf(changes),
    totals,
    next: hasMore ? (changes.at(-1)?.number ?? null) : null,
  };
}

/** Reads how many organizations the changes cover. Freshness is left out, because the changes are of many lists. */
async function readNotes(
  reader: Reader,
  request: ChangeRangeRequest,
  totals: Totals | null,
): Promise<AnswerNotes> {
  const coverage = await readChangesCoverage(reader, request);
  return {
    at: null,
    totals,
    coverage,
    freshness: [],
    gaps: [],
    caveats: coverage.missing > 0 ? [{ code: 'never_read', organizations: coverage.missing }] : [],
  };
}

/**
 * Returns how many organizations the changes cover. Changes of installations cover every organization that has the app, because all
 * installations are read at once.
 */
async function readChangesCoverage(reader: Reader, request: ChangeRangeRequest): Promise<Coverage> {
  if (request.resource !== INSTALLATION) return await readListCoverage(reader, request);
  const known = await countInstalled(reader, request.organizationId);
  return { counted: known, known, missing: 0 };
}
