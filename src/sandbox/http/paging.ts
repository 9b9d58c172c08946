import type { Request, Response } from 'express';
import type { MemoryTable } from '../store/tables.js';
import { badRequest } from './api-errors.js';

const WHOLE_NUMBER = /^\d+$/;
const DEFAULT_PAGE_SIZE = 10;
export const MAX_PAGE_SIZE = 1000;
const MAX_PAGE = 2 ** 31 - 1;

/** How a fault distorts the paginated lists of a request. */
export interface PagingDistortion {
  /** How many of the newest rows are left out. */
  readonly hiddenRows: number;
  /** The maximum page size, whatever the caller requests. */
  readonly maxPageSize: number;
  /** Whether every page is the first one and announces a next page. */
  readonly repeatsFirstPage: boolean;
}

const NO_DISTORTION: PagingDistortion = {
  hiddenRows: 0,
  maxPageSize: Number.POSITIVE_INFINITY,
  repeatsFirstPage: false,
};

/** Makes the paginated lists of this request hide or repeat rows. `readPageRequest` applies the distortion. */
export function distortPaging(res: Response, distortion: Partial<PagingDistortion>): void {
  res.locals['pagingDistortion'] = { ...NO_DISTORTION, ...distortion };
}

/** The page of a list that a request asks for. */
export interface PageRequest {
  readonly limit: number;
  /** The number of the page whose rows are returned, from 0. */
  readonly page: number;
  /** The page number that the response states. It differs from `page` only under a fault. */
  readonly reportedPage: number;
  readonly hiddenRows: number;
  readonly repeatsFirstPage: boolean;
}

/**
 * Reads `limit` and `page` from the query, and caps the page size at `maxPageSize`. Applies the simulated paging fault that `distortPaging`
 * stored in `res`, if any. Throws a 400 error if `limit` or `page` is invalid.
 */
export function readPageRequest({ query }: Request, res: Response, maxPageSize: number): PageRequest {
  const distortion: PagingDistortion = res.locals['pagingDistortion'] ?? NO_DISTORTION;
  const problems: string[] = [];
  const limit = readWholeNumber(query['limit'], { name: 'limit', min: 1, max: MAX_PAGE_SIZE, problems });
  const page = readWholeNumber(query['page'], { name: 'page', min: 0, max: MAX_PAGE, problems }) ?? 0;
  if (problems.length > 0) throw badRequest(problems);
  return {
    limit: Math.min(limit ?? DEFAULT_PAGE_SIZE, maxPageSize, distortion.maxPageSize),
    page: distortion.repeatsFirstPage ? 0 : page,
    reportedPage: page,
    hiddenRows: distortion.hiddenRows,
    repeatsFirstPage: distortion.repeatsFirstPage,
  };
}

/** A range of a list that is read by `skip` and `first` instead of by pages. */
export interface ListSlice {
  readonly skip: number;
  readonly limit: number;
}

/** Reads the pagination parameters `skip` and `first` from a query. Throws a 400 error if one of them is invalid. */
export function readListSlice(query: Request['query']): ListSlice {
  const problems: string[] = [];
  const skip = readWholeNumber(query['skip'], { name: 'skip', min: 0, max: MAX_PAGE, problems });
  const limit = readWholeNumber(query['first'], { name: 'first', min: 1, max: MAX_PAGE_SIZE, problems });
  if (problems.length > 0) throw badRequest(problems);
  return { skip: skip ?? 0, limit: limit ?? DEFAULT_PAGE_SIZE };
}

/** The rows to page through: an array sorted newest first, or a table. */
type PagedRows<Row> = readonly Row[] | Pick<MemoryTable<Row>, 'count' | 'listNewest'>;

/**
 * Returns one page of rows, newest first, and the `pagination` object of the response. `groupKey` selects the rows of one group
 * of a table, such as an organization.
 */
export function paginate<Row>(source: PagedRows<Row>, request: PageRequest, groupKey?: string) {
  const { limit, page, hiddenRows, reportedPage, repeatsFirstPage } = request;
  const isTable = 'listNewest' in source;
  const skip = page * limit + hiddenRows;
  const rowCount = isTable ? source.count(groupKey) : source.length;
  const total = Math.max(0, rowCount - hiddenRows);
  const pageCount = Math.ceil(total / limit);
  const hasNextPage = repeatsFirstPage || reportedPage + 1 < pageCount;
  return {
    items: isTable ? source.listNewest(limit, skip, groupKey) : source.slice(skip, skip + limit),
    pagination: {
      total,
      currentPage: reportedPage,
      pageCount,
      nextPage: hasNextPage ? reportedPage + 1 : null,
      prevPage: reportedPage > 0 ? reportedPage - 1 : null,
    },
  };
}

/** The allowed range of a query parameter. */
interface NumberBounds {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  /** Receives a message if the number is invalid. */
  readonly problems: string[];
}

/**
 * Parses an integer query parameter. Returns undefined if it is absent or invalid, and adds an error message to `problems` if it
 * is invalid.
 */
function readWholeNumber(value: unknown, { name, min, max, problems }: NumberBounds): number | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === 'string' && WHOLE_NUMBER.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  problems.push(`${name} must be a whole number from ${min} to ${max}`);
  return undefined;
}
