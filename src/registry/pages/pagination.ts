import { isObject } from '../../text/checks.js';
import { RegistryError } from '../errors.js';

/** What a response states about the whole list. A field is null if the response does not state it. */
export interface Pagination {
  readonly total: number | null;
  readonly pageCount: number | null;
  /** `'none'` if the response states that there is no next page. */
  readonly nextPage: number | 'none' | null;
}

const NO_PAGINATION: Pagination = { total: null, pageCount: null, nextPage: null };

/** Reads the total, the page count and the next page from a response. A malformed value becomes null. */
export function getPagination(envelope: Readonly<Record<string, unknown>>): Pagination {
  const pagination = envelope['pagination'];
  if (!isObject(pagination)) return NO_PAGINATION;
  const nextPage = pagination['nextPage'];
  return {
    total: toCount(pagination['total']),
    pageCount: toCount(pagination['pageCount']),
    nextPage: nextPage === null ? 'none' : toCount(nextPage),
  };
}

/** Returns the value if it is a non-negative integer, otherwise null. */
function toCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/**
 * Predicts from a page's pagination data and number of rows whether another page follows. Returns `unknown` if the page has no
 * pagination data and between 1 and `limit` - 1 rows.
 */
export function predictNextPage(
  { nextPage, pageCount }: Pagination,
  pageNumber: number,
  rows: number,
  limit: number,
): 'end' | 'more' | 'unknown' {
  // The registry does not document how its lists end, so everything that the response states counts.
  if (rows === 0 || nextPage === 'none') return 'end';
  if (pageCount !== null) return pageNumber + 1 >= pageCount ? 'end' : 'more';
  if (nextPage !== null) return nextPage <= pageNumber ? 'end' : 'more';
  // A short page may be the last one, or the registry may limit its page size.
  if (rows < limit) return 'unknown';
  return rows === limit ? 'more' : 'end';
}

/** The smallest page size that is tried. */
const MIN_PAGE_SIZE = 10;
const MENTIONS_PAGE_SIZE = /limit|page.?size|per.?page/i;

/** Chooses a smaller page size after a request failed. Rethrows an error that the page size did not cause. */
export function chooseSmallerPageSize(error: unknown, refusedSize: number): number {
  if (!(error instanceof RegistryError) || !mayConcernPageSize(error)) throw error;
  const allowedSize = findAllowedPageSize(error.registryMessage ?? '', refusedSize);
  if (allowedSize !== null) return allowedSize;
  if (refusedSize > MIN_PAGE_SIZE) return Math.max(MIN_PAGE_SIZE, Math.floor(refusedSize / 2));
  throw error;
}

function mayConcernPageSize({ code, status }: RegistryError): boolean {
  return code === 'too_large' || status === 400 || status === 422;
}

/**
 * Finds the allowed page size in an error message: `limit must not exceed 50` → `50`. Returns null if the message names no size
 * below `refusedSize`.
 */
function findAllowedPageSize(message: string, refusedSize: number): number | null {
  if (!MENTIONS_PAGE_SIZE.test(message)) return null;
  const numbers = (message.match(/\d{1,6}/g) ?? []).map(Number);
  const possibleSizes = numbers.filter(number => number > 1 && number < refusedSize);
  return possibleSizes.length === 0 ? null : Math.max(...possibleSizes);
}

/** Where the read of a list goes on. Callers see it as an opaque text. */
export interface ListPosition {
  /** The number of the next page, counted from 0. */
  readonly page: number;
  /** The page size by which the pages are counted. */
  readonly limit: number;
  /** How many rows precede the next page. */
  readonly rows: number;
}

/** Writes a position as the text that callers pass as the option `cursor`. */
export function formatCursor({ page, limit, rows }: ListPosition): string {
  return `${page}-${limit}-${rows}`;
}

/** Parses the cursor of a page: page number, page size and row count. Throws `bad_request` if it is malformed. */
export function parseCursor(cursor: string): ListPosition {
  const [, page, limit, rows] = /^(\d{1,9})-([1-9]\d{0,8})-(\d{1,12})$/.exec(cursor) ?? [];
  if (rows === undefined)
    throw new RegistryError('bad_request', 'cursor: expected the cursor of a page that was read');
  return { page: Number(page), limit: Number(limit), rows: Number(rows) };
}
