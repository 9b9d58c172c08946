import type { Request, Response } from 'express';
import type { Table } from '../store/tables.js';
import { badRequest } from './errors.js';

const WHOLE_NUMBER = /^\d+$/;
const DEFAULT_LIMIT = 10;
export const MAX_LIMIT = 1000;
const MAX_PAGE = 2 ** 31 - 1;

/** What a fault does to the lists that a call reads. */
export interface Bend {
  /** So many of the newest rows are not there. */
  readonly hidden: number;
  /** The most rows a page holds, whatever was asked for. */
  readonly mostRows: number;
  /** Every page is the first, and says that another follows. */
  readonly loops: boolean;
}

const STRAIGHT: Bend = { hidden: 0, mostRows: Number.POSITIVE_INFINITY, loops: false };

export function bendLists(res: Response, bend: Partial<Bend>): void {
  res.locals['bend'] = { ...STRAIGHT, ...bend };
}

/** What was asked for, and what of it is answered: the same, where no fault bends it. */
export interface PageQuery {
  readonly limit: number;
  readonly page: number;
  readonly hidden: number;
  /** The page that the answer calls itself by. */
  readonly shownAs: number;
  readonly loops: boolean;
}

/** A page holds at most so many rows, whatever was asked for. */
export function readPageQuery({ query }: Request, res: Response, mostRows: number): PageQuery {
  const bend: Bend = res.locals['bend'] ?? STRAIGHT;
  const faults: string[] = [];
  const limit = readWholeNumber(query['limit'], { name: 'limit', least: 1, most: MAX_LIMIT, faults });
  const page = readWholeNumber(query['page'], { name: 'page', least: 0, most: MAX_PAGE, faults }) ?? 0;
  if (faults.length > 0) throw badRequest(faults);
  return {
    limit: Math.min(limit ?? DEFAULT_LIMIT, mostRows, bend.mostRows),
    page: bend.loops ? 0 : page,
    hidden: bend.hidden,
    shownAs: page,
    loops: bend.loops,
  };
}

/** Some lists are asked for by `skip` and `first` instead, and tell no total. */
export interface Slice {
  readonly skip: number;
  readonly first: number;
}

export function readSlice(query: Request['query']): Slice {
  const faults: string[] = [];
  const skip = readWholeNumber(query['skip'], { name: 'skip', least: 0, most: MAX_PAGE, faults });
  const first = readWholeNumber(query['first'], { name: 'first', least: 1, most: MAX_LIMIT, faults });
  if (faults.length > 0) throw badRequest(faults);
  return { skip: skip ?? 0, first: first ?? DEFAULT_LIMIT };
}

type Rows<Row> = readonly Row[] | Pick<Table<Row>, 'count' | 'newest'>;

/** A page of rows that stand with the newest first, or of those of a group. The pagination stands beside the list, whose name differs. */
export function pageOf<Row>(rows: Rows<Row>, query: PageQuery, group?: string) {
  const { limit, page, hidden, shownAs, loops } = query;
  const isTable = 'newest' in rows;
  const skip = page * limit + hidden;
  const total = Math.max(0, (isTable ? rows.count(group) : rows.length) - hidden);
  const pageCount = Math.ceil(total / limit);
  return {
    items: isTable ? rows.newest(limit, skip, group) : rows.slice(skip, skip + limit),
    pagination: {
      total,
      currentPage: shownAs,
      pageCount,
      nextPage: loops || shownAs + 1 < pageCount ? shownAs + 1 : null,
      prevPage: shownAs > 0 ? shownAs - 1 : null,
    },
  };
}

interface Bounds {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  readonly faults: string[];
}

function readWholeNumber(value: unknown, { name, least, most, faults }: Bounds): number | undefined {
  if (value === undefined) return undefined;
  const number = typeof value === 'string' && WHOLE_NUMBER.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  faults.push(`${name} must be a whole number from ${least} to ${most}`);
  return undefined;
}
