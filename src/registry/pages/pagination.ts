import { isObject } from '../../text/checks.js';

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
 * Predicts from a page's pagination data and number of rows whether another page follows. Returns `unknown` for a page without
 * pagination data that is neither empty nor full (`limit` rows).
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
