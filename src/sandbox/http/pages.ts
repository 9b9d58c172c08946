import type { PageQuery } from './validate.js';

/** The registry's pagination object. */
export function pagination(total: number, { limit, page }: PageQuery) {
  const pageCount = Math.ceil(total / limit);
  return {
    total,
    currentPage: page,
    pageCount,
    nextPage: page + 1 < pageCount ? page + 1 : null,
    prevPage: page > 0 ? page - 1 : null,
  };
}

export interface OrdinalRange {
  readonly from: number;
  readonly to: number;
}

/** A page of a list that counts 1 to total without gaps and shows the newest first. */
export function newestFirst(total: number, { limit, page }: PageQuery): OrdinalRange {
  const to = total - page * limit;
  return { from: Math.max(1, to - limit + 1), to };
}

/** The pagination object stands beside the list, whose name differs. */
export interface ListAnswer {
  readonly pagination: ReturnType<typeof pagination>;
}
