/**
 * Reads a paged list: requests pages ahead, yields them in order, and finds the end of the list, which the registry does not
 * always state. Rows that an earlier read has seen are recognized by digests and not parsed again. The reading always ends:
 * at a page without a new row, or two pages after the list should have ended.
 */
import { hash } from 'node:crypto';
import type { HttpClient, HttpRequest } from '../http/http-types.js';
import { matchKnownPage, type PageRow, parsePage, parseRow } from './parse-page.js';
import { RegistryError } from '../errors.js';
import { isObject } from '../../text/checks.js';
import { type ObjectParser, toSourceObject } from '../json/json-object.js';
import {
  type Pagination,
  predictNextPage,
  getPagination,
  chooseSmallerPageSize,
  formatCursor,
  parseCursor,
} from './pagination.js';
import { checkListOwner } from './list-owner.js';
import { createReadAhead } from './read-ahead.js';
import { DEFAULT_PAGE_SIZE, type ListOptions, type UnreadableRow } from '../read-types.js';
import type { ObservationOptions, ObservedPage, PageRowGroup } from './paged-lists.js';
import { createIdSet, hashId, type IdSet } from './id-set.js';

/** The maximum number of pages of a list whose length the registry does not state. */
const MAX_PAGES = 100_000;
const DEFAULT_READ_AHEAD = 4;

/** A list that the registry sends in pages, and how to request and parse it. */
export interface PageSource<T> {
  readonly http: HttpClient;
  readonly request: HttpRequest;
  /** The name of the array in the response. */
  readonly key: string;
  readonly parse: ObjectParser<T>;
  /** The names under which a row may have its id. Default: `id`. */
  readonly idNames?: readonly string[];
  /** If a response names an organization, it must be this one. */
  readonly organizationId?: string;
}

/** A page as received, before its position in the list is known. */
interface RawPage<T>
  extends Pick<
    ObservedPage<T>,
    'rows' | 'isKnown' | 'items' | 'knownGroups' | 'unknownGroups' | 'bytes' | 'digest' | 'arrivedAt'
  > {
  /** The ids of all rows; empty for a known page. */
  readonly ids: readonly string[];
  readonly unreadable: readonly UnreadableRow[];
  readonly pagination: Pagination;
}

/** What has been read of a list so far. It stays valid when the page size changes. */
interface ListProgress {
  readonly seenIds: IdSet;
  readonly seenPageDigests: Set<string>;
  rows: number;
  pages: number;
}

/** The options of a list, with all defaults filled in. */
type PageOptions = Omit<ListOptions, 'cursor'> &
  ObservationOptions & { readonly limit: number; readonly readAhead: number };

/** Yields the pages of a list in order. Uses smaller pages if the registry refuses the page size. */
export async function* readPages<T>(
  list: PageSource<T>,
  { cursor, ...options }: ListOptions & ObservationOptions = {},
): AsyncGenerator<ObservedPage<T>> {
  const start = cursor === undefined ? null : parseCursor(cursor);
  // Page numbers depend on the page size, so a read that goes on keeps the size of the earlier read.
  let limit = start?.limit ?? requirePositiveInteger('limit', options.limit ?? DEFAULT_PAGE_SIZE);
  const readAhead = requirePositiveInteger('readAhead', options.readAhead ?? DEFAULT_READ_AHEAD);
  const seen = { seenIds: createIdSet(), seenPageDigests: new Set<string>() };
  const progress = { ...seen, rows: start?.rows ?? 0, pages: 0 };
  let firstPage = start?.page ?? 0;
  for (;;) {
    try {
      yield* readRemainingPages(list, { ...options, limit, readAhead }, progress, firstPage);
      return;
    } catch (error) {
      limit = chooseSmallerPageSize(error, limit);
      firstPage = Math.floor(progress.rows / limit);
    }
  }
}

/** Yields the unread pages of a list. The first page may contain rows that were already read. */
async function* readRemainingPages<T>(
  list: PageSource<T>,
  options: PageOptions,
  progress: ListProgress,
  firstPage: number,
): AsyncGenerator<ObservedPage<T>> {
  const { limit } = options;
  const abort = createLinkedAbortSignal(options.signal);
  const readAhead = createReadAhead(options.readAhead, firstPage, pageNumber =>
    readPage(list, pageNumber, { ...options, signal: abort.signal }),
  );
  let expectedPages = firstPage + 1;
  let maxPages = MAX_PAGES;
  let pageSize = 1;

  /** Whether a page with fewer rows than requested is the last page. Reads the next page to decide. */
  async function isLastShortPage(page: RawPage<T>, pageNumber: number): Promise<boolean> {
    readAhead.raiseLimit(Math.min(pageNumber + 2, maxPages));
    const nextPage = await readAhead.peekNext();
    return nextPage === undefined || nextPage.rows === 0 || nextPage.digest === page.digest;
  }

  try {
    for (let pageNumber = firstPage; ; pageNumber += 1) {
      readAhead.raiseLimit(Math.min(Math.max(expectedPages, pageNumber + 1), maxPages));
      const page = await readAhead.takeNext();
      if (page === undefined) return;
      const { pagination, ids: _, unreadable, ...answer } = page;
      const next = predictNextPage(pagination, pageNumber, page.rows, limit);
      const isListEnd = next === 'unknown' ? await isLastShortPage(page, pageNumber) : next === 'end';
      if (pageNumber === firstPage) {
        pageSize = Math.max(page.rows, 1);
        const pageCounts = estimatePageCounts(pagination, pageSize);
        maxPages = pageCounts.max;
        if (!isListEnd) expectedPages = pageCounts.expected;
      }
      const newRows = countNewRows(page, progress);
      const end = decideListEnd({
        isListEnd,
        isRepeated: page.rows > 0 && newRows === 0,
        isPastLimit: pageNumber + 1 >= maxPages,
      });
      if (end === null) readAhead.raiseLimit(Math.min(expectedPages, maxPages));
      const number = progress.pages;
      progress.rows += newRows;
      progress.pages += 1;
      for (const row of unreadable) options.onUnreadable?.(row);
      const { total } = pagination;
      yield {
        ...answer,
        number,
        total,
        limit,
        pageSize,
        cursor: end === null ? formatCursor({ page: pageNumber + 1, limit, rows: progress.rows }) : null,
        isLast: end !== null,
        end,
        isListComplete: end === 'complete' || (end !== null && total === progress.rows),
      };
      if (end !== null) return;
    }
  } finally {
    readAhead.close();
    abort.abort();
  }
}

/** Estimates from the first page how many pages the list has (`expected`) and how many to read at most (`max`). */
function estimatePageCounts({ total, pageCount }: Pagination, pageSize: number) {
  const pagesOfTotal = total === null ? null : Math.ceil(total / pageSize);
  return {
    expected: Math.min(pagesOfTotal ?? pageCount ?? 1, pageCount ?? pagesOfTotal ?? 1),
    max: Math.min((pagesOfTotal ?? MAX_PAGES) + 2, MAX_PAGES),
  };
}

/** Counts the rows of a page that were not on an earlier page, and records the rows as seen. */
function countNewRows(page: RawPage<unknown>, { seenIds, seenPageDigests }: ListProgress): number {
  if (!page.isKnown) return page.ids.reduce((count, id) => count + (seenIds.add(id) ? 1 : 0), 0);
  // The rows of a known page were not parsed, so the digest of the page is compared.
  const isRepeated = seenPageDigests.has(page.digest);
  seenPageDigests.add(page.digest);
  return isRepeated ? 0 : page.rows;
}

/** What suggests that a page is the last one of its list. */
interface EndConditions {
  readonly isListEnd: boolean;
  readonly isRepeated: boolean;
  readonly isPastLimit: boolean;
}

/** Returns why this page is the last one, such as `repeated`, or null if more pages follow. */
function decideListEnd({ isListEnd, isRepeated, isPastLimit }: EndConditions): ObservedPage<unknown>['end'] {
  if (isRepeated) return 'repeated';
  if (isListEnd) return 'complete';
  return isPastLimit ? 'endless' : null;
}

/** Requests one page and parses its rows. Does not parse rows that an earlier read contained (`knownRows`). */
async function readPage<T>(
  list: PageSource<T>,
  pageNumber: number,
  { limit, signal, onCall, onOwner, onUnreadable, knownRows }: PageOptions,
): Promise<RawPage<T>> {
  const { http, request, key, organizationId } = list;
  const query = { ...request.query, limit: String(limit), page: String(pageNumber) };
  const { body } = await http.send({ ...request, query, signal, onCall });
  const arrivedAt = http.localNow();
  const knownPage = knownRows === undefined ? null : matchKnownPage(body, key, knownRows.getRowCount);
  const page = knownPage ?? parsePage(body, key);
  const ownerId = organizationId === undefined ? null : checkListOwner(page.envelope, organizationId);
  onOwner?.(ownerId);
  const { digest } = page;
  const answer = { pagination: getPagination(page.envelope), bytes: body.length, digest, arrivedAt };
  if ('rowCount' in page) {
    const noRows = { ids: [], items: [], unreadable: [], knownGroups: [], unknownGroups: [] };
    return { ...answer, ...noRows, rows: page.rowCount, isKnown: true };
  }
  const hasGroup = knownRows?.hasGroup ?? (() => false);
  const parsedRows = parseNewRows(list, page.rows, {
    hasGroup,
    reportsUnreadable: onUnreadable !== undefined,
  });
  return { ...answer, ...parsedRows, rows: page.rows.length, isKnown: false };
}

interface RowParsingOptions {
  readonly hasGroup: (groupDigest: string) => boolean;
  /** Whether unreadable rows are collected and returned. Otherwise the first one throws. */
  readonly reportsUnreadable: boolean;
}

/** Splits the rows of a page into groups of adjacent rows. Parses only the groups that an earlier read did not contain. */
function parseNewRows<T>(
  { key, parse, idNames = ['id'] }: PageSource<T>,
  rows: readonly PageRow[],
  { hasGroup, reportsUnreadable }: RowParsingOptions,
): Pick<RawPage<T>, 'ids' | 'items' | 'unreadable' | 'knownGroups' | 'unknownGroups'> {
  const ids = rows.map(({ value }) => findRowId(value, idNames));
  const groups = [...groupRows(rows, ids)];
  const knownGroups = groups.filter(({ digest }) => hasGroup(digest));
  const unknownGroups =
    knownGroups.length === 0 ? groups : groups.filter(group => !knownGroups.includes(group));
  // Collect unreadable rows instead of reporting them: the page was read ahead and may never be taken.
  const unreadable: UnreadableRow[] = [];
  const onUnreadable = reportsUnreadable ? (row: UnreadableRow) => void unreadable.push(row) : undefined;
  const items = unknownGroups.flatMap(({ start, ids: { length } }) =>
    rows.slice(start, start + length).flatMap(({ text, value }, index) => {
      const object = toSourceObject(text, value, `${key}[${start + index}]`);
      return parseRow(object, parse, onUnreadable);
    }),
  );
  return { ids, items, unreadable, knownGroups, unknownGroups };
}

/** The average number of rows in a group. */
const GROUP_ROWS = 8;

/** Splits rows into groups by content-defined chunking. An inserted row changes only the groups around it. */
function* groupRows(
  rows: readonly PageRow[],
  ids: readonly string[],
): Generator<PageRowGroup & { readonly start: number }> {
  let start = 0;
  let groupText = '';
  for (const [index, row] of rows.entries()) {
    groupText += row.text;
    const next = index + 1;
    if (next < rows.length && hashId(ids[index] ?? '') % GROUP_ROWS !== 0) continue;
    yield { digest: hash('sha256', groupText), ids: ids.slice(start, next), start };
    start = next;
    groupText = '';
  }
}

/** Returns the id of a row, from the first of the fields `idNames` that holds text. Returns `''` if there is none. */
function findRowId(value: unknown, idNames: readonly string[]): string {
  if (!isObject(value)) return '';
  for (const name of idNames) {
    const id = value[name];
    if (typeof id === 'string') return id;
  }
  return '';
}

/** Returns a numeric option. Throws `bad_request` unless the number is a positive integer. */
function requirePositiveInteger(optionName: string, value: number): number {
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new RegistryError('bad_request', `${optionName}: expected a whole number above 0, got ${value}`);
}

/** Creates an abort signal that is aborted by the returned function `abort` or by the caller's signal. */
function createLinkedAbortSignal(callerSignal: AbortSignal | undefined) {
  const controller = new AbortController();
  const forwardAbort = () => controller.abort(callerSignal?.reason);
  if (callerSignal?.aborted === true) forwardAbort();
  callerSignal?.addEventListener('abort', forwardAbort, { once: true });
  return {
    signal: controller.signal,
    abort: () => {
      callerSignal?.removeEventListener('abort', forwardAbort);
      controller.abort();
    },
  };
}
