import { isObject } from '../model.js';

/** What an answer states about the whole list; null for what it does not state. */
export interface Pagination {
  readonly total: number | null;
  readonly pageCount: number | null;
  /** `'none'` if the answer states that there is no next page. */
  readonly nextPage: number | 'none' | null;
}

const NO_PAGINATION: Pagination = { total: null, pageCount: null, nextPage: null };

/** Returns what the envelope of a page states about the list. Malformed statements count as none. */
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

function toCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/**
 * Decides whether another page follows. How lists end is not documented, so every statement of the answer counts. Without
 * one, a full page has a next one, and a page with more rows than requested is the whole list. A short page is `unknown`:
 * it may be the last one, or the registry may limit the size of its pages.
 */
export function predictNextPage(
  { nextPage, pageCount }: Pagination,
  pageNumber: number,
  rows: number,
  limit: number,
): 'end' | 'more' | 'unknown' {
  if (rows === 0 || nextPage === 'none') return 'end';
  if (pageCount !== null) return pageNumber + 1 >= pageCount ? 'end' : 'more';
  if (nextPage !== null) return nextPage <= pageNumber ? 'end' : 'more';
  if (rows < limit) return 'unknown';
  return rows === limit ? 'more' : 'end';
}
