/** Answers what is in a list: rows, totals, and how complete and fresh they are. Commands, pages and files show the answer. */
import type { Reader } from '../../store/contract/reader.js';
import type { Row, Value } from '../../store/contract/tables.js';
import { queryBuilder } from '../../store/sql/builder.js';
import { findOwnerColumn } from '../../resources/entry.js';
import {
  type Answer,
  type AnswerNotes,
  type Coverage,
  type Totals,
  type TypeAmount,
  collectRows,
  streamOf,
  findAmountCaveats,
} from '../answer/answer.js';
import type { Caveat } from '../answer/caveat.js';
import {
  FRESHNESS_COLUMNS,
  type FreshnessSum,
  type ListFreshness,
  readStates,
  readStatesOfRows,
  sumFreshness,
  withFreshness,
} from '../freshness/read-freshness.js';
import { colourOf } from '../freshness/describe-freshness.js';
import { type CoverageAt, readCoverageAt, selectKnownIds, toNotesAt } from '../history/as-of.js';
import { buildValidAtCondition } from '../read-one.js';
import type { List, ListRequest } from './list-type.js';
import { OWNER } from './matching-rows.js';
import { getFilterText } from './parse-request.js';
import { readPage, showSql, streamRows } from './read-rows.js';
import { MAX_COUNTED, readTotals } from './totals.js';
import { findUnmatchedFilters } from './unmatched-filters.js';

/** The rows that are read: all of them, the first ones, or a page. */
export type RowRange =
  | { readonly kind: 'all' }
  | { readonly kind: 'first'; readonly limit: number }
  /** `after` has the sort values of the last row of the previous page; null for the first page. */
  | { readonly kind: 'page'; readonly limit: number; readonly after: readonly Value[] | null };

export interface ListAnswer extends Answer<Row> {
  /** The list as it was read: as of an instant, some have other columns. */
  readonly list: List;
  readonly totals: Totals;
  /** The part of the amounts that buyers can reserve now. Null if all amounts are available, or if the list is no offer. */
  readonly available: readonly TypeAmount[] | null;
  /** The totals of the rows that still hold an amount. Null if `totals` counts only such rows, or if this is not known. */
  readonly held: Totals | null;
  /** Words that say which rows the total counts, such as `in any state`. Usually empty. */
  readonly subject: string;
  /** How fresh the list of each row is. Null for a past instant, and for lists that are not read from the registry. */
  readonly rowFreshness: ListFreshness | null;
  /** The names of the columns of files, with those of freshness. */
  readonly columns: readonly string[];
  /** The sort values with which the next page starts. Null on the last page, and if there are no pages. */
  readonly next: readonly Value[] | null;
  /** Why there are no rows. */
  readonly empty: string;
  /** The SQL query of the rows, with all values filled in, so that a user can run it. */
  readonly sql: string;
}

/** The filter by which people choose rows that are held, or rows that have ended. */
const STATE = 'state';
/** The filter for rows until a day. */
const UNTIL = 'until';

/** Lists with more rows are streamed instead of being read at once. */
const MAX_COLLECTED_ROWS = 1_000;

/**
 * Reads a list. Up to `MAX_COLLECTED_ROWS` rows are read in one snapshot, so that they are consistent. More rows are streamed: to have them
 * consistent too, call this function in `inSnapshot`.
 */
export async function readList(reader: Reader, request: ListRequest, range: RowRange): Promise<ListAnswer> {
  if (!isCollected(range)) return await answerList(reader, request, range);
  return await reader.inSnapshot(async snapshot => await answerList(snapshot, request, range));
}

/** Whether the rows are few enough to be read at once instead of streamed. */
function isCollected(range: RowRange): boolean {
  return range.kind !== 'all' && range.limit <= MAX_COLLECTED_ROWS;
}

/** A request limited to the rows that the mirror knows, and notes on how complete and fresh these rows are. */
export interface KnownSelection {
  readonly selection: ListRequest;
  readonly notes: Omit<AnswerNotes, 'totals'>;
}

/**
 * Returns a request limited to the organizations whose list the mirror knew at the instant of the request, with the notes of the answer. A
 * request for the present is not limited.
 */
export async function readKnownSelection(reader: Reader, request: ListRequest): Promise<KnownSelection> {
  const { list, at } = request;
  const known = await readKnownLists(reader, request);
  return known === null || at === null
    ? { selection: request, notes: createCurrentNotes(list, at, await readFreshness(reader, request)) }
    : { selection: limitToKnownOrganizations(request, known), notes: toNotesAt(at, known) };
}

/** Reads the rows, totals and notes of a list in several queries. */
async function answerList(reader: Reader, request: ListRequest, range: RowRange): Promise<ListAnswer> {
  const { list, at, filters } = request;
  const { selection, notes } = await readKnownSelection(reader, request);
  const { freshness } = notes;
  const { rows, totals, next, sql } = await readRows(reader, selection, range);
  // A page of fresh lists does not show how fresh each row is.
  const skipsRows = at !== null || (range.kind === 'page' && freshness.every(isFresh));
  const rowFreshness = skipsRows ? null : await readRowFreshness(reader, selection, rows);
  const areAllFresh = rowFreshness === null || rowFreshness.areAllFresh;
  const available =
    list.isOffer && at === null && !areAllFresh && totals.amounts !== null && totals.rows > 0
      ? await readAvailable(reader, selection)
      : null;
  const countsEnded = list.holds !== null && getFilterText(request, STATE) === null;
  const caveats = [
    ...notes.caveats,
    ...(totals.rows === 0 ? await findUnmatchedFilters(reader, request) : []),
    ...findLimitCaveats(totals, range),
    ...(list.readCaveats === null || isPast(request) ? [] : await list.readCaveats(reader)),
  ];
  const names = list.columns.map(({ name }) => name);
  return {
    ...notes,
    list,
    rows: rowFreshness === null ? streamOf(rows) : withFreshness(rows, rowFreshness),
    totals,
    available,
    held: countsEnded && at === null ? await readHeld(reader, selection) : null,
    subject: countsEnded ? 'in any state' : '',
    caveats,
    rowFreshness,
    columns: rowFreshness === null ? names : [...names, ...FRESHNESS_COLUMNS],
    next,
    empty: describeEmpty(list, filters.length > 0, at),
    sql,
  };
}

/**
 * Creates the notes of an answer from the current freshness of a list: how complete and fresh its rows are. Also used for a past
 * instant `at` if the rows of the list belong to no organization.
 */
function createCurrentNotes(
  list: List,
  at: string | null,
  freshness: readonly FreshnessSum[],
): Omit<AnswerNotes, 'totals'> {
  const caveats = findUnreadCaveats(freshness);
  return { at, coverage: toCoverage(list, freshness), freshness, gaps: [], caveats };
}

/** Whether a request is about an earlier time: an instant, or the days until a date. */
function isPast(request: ListRequest): boolean {
  return request.at !== null || getFilterText(request, UNTIL) !== null;
}

/** Describes why a list has no rows. */
function describeEmpty({ plural, empty }: List, isFiltered: boolean, at: string | null): string {
  if (isFiltered) return `No ${plural} match these filters.`;
  return at === null ? empty : `No ${plural} are known at that time.`;
}

/**
 * Reads how completely each organization's list was known at the instant of the request. Null for the present, and for lists
 * whose rows belong to no organization.
 */
async function readKnownLists(reader: Reader, request: ListRequest): Promise<CoverageAt[] | null> {
  const { list, at } = request;
  const { resource, entry } = list;
  if (at === null || resource === null || entry === null || findOwnerColumn(entry) === null) return null;
  const lists = await readCoverageAt(reader, { resource, at, organizationId: getFilterText(request, OWNER) });
  return await replaceNamesAt(reader, lists, at);
}

/**
 * Replaces the current names of organizations by the names that they had at the instant, so that the answer for a past instant stays the
 * same after a renaming.
 */
export async function replaceNamesAt(
  reader: Reader,
  lists: readonly CoverageAt[],
  at: string,
): Promise<CoverageAt[]> {
  const organizations = await reader.all(
    queryBuilder
      .selectFrom('mirror.organizations_history')
      .select(['id', 'full_name'])
      .where(buildValidAtCondition(at)),
  );
  const names = new Map(organizations.map(({ id, full_name: name }) => [id, name]));
  return lists.map(list => {
    const organizationName = names.get(list.organizationId) ?? list.organizationName;
    return { ...list, organizationName, gaps: list.gaps.map(gap => ({ ...gap, organizationName })) };
  });
}

/** Adds a condition to a request, which selects only the organizations whose list the mirror knew at the instant of the request. */
function limitToKnownOrganizations(request: ListRequest, known: readonly CoverageAt[]): ListRequest {
  const column = (request.list.entry && findOwnerColumn(request.list.entry)) ?? OWNER;
  return { ...request, where: [...request.where, { column, among: selectKnownIds(known) }] };
}

/**
 * Counts the organizations by the freshness of their list. Returns an empty array for a past instant, and for a list that is not read from
 * the registry.
 */
async function readFreshness(reader: Reader, request: ListRequest): Promise<FreshnessSum[]> {
  const { resource } = request.list;
  if (request.at !== null || resource === null) return [];
  return await sumFreshness(reader, resource, getFilterText(request, OWNER));
}

/** Whether the lists of a group are fresh and their last reads did not fail. */
function isFresh(sum: FreshnessSum): boolean {
  return colourOf(sum) === 'good';
}

interface RangeRows {
  readonly rows: readonly Row[] | AsyncIterable<Row>;
  readonly totals: Totals;
  readonly next: readonly Value[] | null;
  readonly sql: string;
}

/** Reads the rows of a range, with the totals of all matching rows. */
async function readRows(reader: Reader, request: ListRequest, range: RowRange): Promise<RangeRows> {
  if (range.kind === 'page') {
    const { after, limit } = range;
    return await readPage(reader, { ...request, after, limit });
  }
  const limit = range.kind === 'all' ? null : range.limit;
  const stream = streamRows(reader, request, limit);
  return {
    rows: isCollected(range) ? await collectRows(stream) : stream,
    totals: await readTotals(reader, request, limit && Math.max(limit, MAX_COUNTED)),
    next: null,
    sql: showSql(reader, request, limit),
  };
}

/**
 * Reads how fresh the list of each row is. While rows still stream, their organizations are unknown, so all requested lists are
 * read.
 */
async function readRowFreshness(
  reader: Reader,
  request: ListRequest,
  rows: readonly Row[] | AsyncIterable<Row>,
): Promise<ListFreshness | null> {
  const { resource } = request.list;
  return Symbol.asyncIterator in rows
    ? await readStates(reader, resource, getFilterText(request, OWNER))
    : await readStatesOfRows(reader, resource, rows);
}

/** Adds up what buyers can reserve now, by credit type: the amounts of organizations whose list is fresh. */
async function readAvailable(reader: Reader, request: ListRequest): Promise<readonly TypeAmount[]> {
  const states = await readStates(reader, request.list.resource, getFilterText(request, OWNER));
  const where = [...request.where, { column: OWNER, among: states?.fresh ?? [] }];
  const { amounts } = await readTotals(reader, { ...request, where }, MAX_COUNTED);
  return amounts ?? [];
}

/**
 * Counts and adds up the rows of a list that still reserve an amount, such as reservations that have not ended. Returns null for a list
 * whose rows never reserve an amount (its `holds` is null).
 */
async function readHeld(reader: Reader, request: ListRequest): Promise<Totals | null> {
  const { holds } = request.list;
  if (holds === null) return null;
  return await readTotals(reader, { ...request, where: [...request.where, holds] }, MAX_COUNTED);
}

/** Returns how many of the known organizations have a list that was read completely. Null for a list that is not read from the registry. */
function toCoverage({ resource }: List, sums: readonly FreshnessSum[]): Coverage | null {
  if (resource === null) return null;
  const installed = sums.filter(({ reason }) => reason !== 'uninstalled');
  const known = countResources(installed);
  const counted = countResources(installed.filter(sum => sum.as_of !== null));
  return { counted, known, missing: known - counted };
}

/** Adds up how many lists are in some groups of equally fresh lists. */
function countResources(sums: readonly FreshnessSum[]): number {
  return sums.reduce((count, { resources }) => count + resources, 0);
}

/**
 * Returns the caveat that the lists of some or all organizations were never read completely. Returns an empty array if each list was read.
 */
function findUnreadCaveats(sums: readonly FreshnessSum[]): Caveat[] {
  const organizations = countResources(sums.filter(({ state }) => state === 'never_read'));
  if (organizations === 0) return [];
  const isNothingRead = sums.every(sum => sum.as_of === null);
  return [{ code: isNothingRead ? 'nothing_read' : 'never_read', organizations }];
}

/** Returns the caveats that only the first rows are in the answer, and that some rows are in no total. */
function findLimitCaveats(totals: Totals, range: RowRange): Caveat[] {
  const isLimited = range.kind === 'first' && (totals.hasMore || totals.rows > range.limit);
  return [
    ...(isLimited ? [{ code: 'limited' as const, rows: range.limit }] : []),
    ...findAmountCaveats(totals),
  ];
}
