import { isObject } from '../model.js';

/** What an answer says about the list as a whole; null where it does not say. */
export interface Pagination {
  readonly total: number | null;
  readonly pageCount: number | null;
  /** `undefined` where the answer has no such field: on the edges that is not the same as null. */
  readonly nextPage: number | null | undefined;
}

const NOTHING: Pagination = { total: null, pageCount: null, nextPage: undefined };

export function readPagination(envelope: Readonly<Record<string, unknown>>): Pagination {
  const pagination = envelope['pagination'];
  if (!isObject(pagination)) return NOTHING;
  const nextPage = pagination['nextPage'];
  return {
    total: count(pagination['total']),
    pageCount: count(pagination['pageCount']),
    nextPage: nextPage === null ? null : (count(nextPage) ?? undefined),
  };
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/**
 * The edges are not documented, so everything an answer says is heard. Where it says nothing, a full page
 * has a next one and more rows than asked for are all there are; a short one may also be the server's own limit.
 */
export function whatFollows(
  pagination: Pagination,
  number: number,
  rows: number,
  limit: number,
): 'nothing' | 'more' | 'unsaid' {
  const { nextPage, pageCount } = pagination;
  if (rows === 0 || nextPage === null) return 'nothing';
  if (pageCount !== null) return number + 1 >= pageCount ? 'nothing' : 'more';
  if (nextPage !== undefined) return nextPage <= number ? 'nothing' : 'more';
  if (rows < limit) return 'unsaid';
  return rows === limit ? 'more' : 'nothing';
}
