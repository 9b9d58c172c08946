import { isObject } from './fields.js';

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
    nextPage: nextPage === undefined ? undefined : count(nextPage),
  };
}

function count(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

/** The edges are not documented, so everything an answer says is heard; saying nothing, a full page has a next one. */
export function isLastPage(pagination: Pagination, number: number, rows: number, limit: number): boolean {
  if (rows === 0 || pagination.nextPage === null) return true;
  if (pagination.pageCount !== null) return number + 1 >= pagination.pageCount;
  if (pagination.nextPage !== undefined) return pagination.nextPage <= number;
  return rows !== limit;
}
