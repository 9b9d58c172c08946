import type { Value } from '../../engines/contract/tables.js';
import { lookedUpBy } from '../../query/by-name.js';
import { hasColumn } from '../../engines/contract/tables.js';
import type { Direction, Paging } from '../../query/paged.js';
import type { Listing } from './listing.js';

const ROWS = 50;

/** What an address asks of a list. What it names and the list does not know is left out. */
export function pagingOf(now: Listing, query: URLSearchParams, at: string | null): Paging {
  const listing = at === null || now.dated === null ? now : { ...now, ...now.dated, isIndexed: false };
  const { from, columns, tie } = listing;
  const order = orderOf(listing, query.get('sort'));
  const filters = filtersOf(listing, query);
  return {
    from,
    columns,
    at: now.dated === null ? null : at,
    filters,
    order: order.some(([column]) => column === tie) ? order : [...order, [tie, order.at(-1)?.[1] ?? 'asc']],
    after: cursorIn(
      query.get('after'),
      order.some(([column]) => column === tie) ? order.length : order.length + 1,
    ),
    limit: ROWS,
    isIndexed: isIndexed(listing, order, filters),
    isKeyed: filters.some(([column]) => column === listing.key),
  };
}

function filtersOf({ filters, tie }: Listing, query: URLSearchParams): Paging['filters'] {
  return filters.flatMap(column => {
    const value = query.get(column);
    return value === null || value === ''
      ? []
      : [[column, column === tie ? numberIn(value) : value] as const];
  });
}

/** By their numbers rows stand in the table itself. Of another order an index is of use to what belongs to one organization, or to all of them. */
function isIndexed(listing: Listing, order: Paging['order'], filters: Paging['filters']): boolean {
  if (order[0]?.[0] === listing.tie) return true;
  return (
    listing.isIndexed && order === listing.order && filters.every(([column]) => column === 'organization_id')
  );
}

/** No row has the number of what is none. */
function numberIn(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : -1;
}

/** `amount`, or `-amount` for the other way. */
function orderOf(listing: Listing, sort: string | null): Paging['order'] {
  const direction: Direction = sort?.startsWith('-') ? 'desc' : 'asc';
  const sortable = listing.columns.filter(name => isSortable(listing, name));
  const column = sortable.find(name => name === sort?.replace(/^-/, ''));
  return column === undefined ? listing.order : [[sortedBy(listing, column), direction]];
}

/** Amounts by their size, and not by their first digits. */
export function sortedBy({ from }: Pick<Listing, 'from'>, column: string): string {
  return column === 'amount_exact' && hasColumn(from, 'amount_micro') ? 'amount_micro' : column;
}

/** By what stands in the table itself. */
export function isSortable({ from }: Listing, column: string): boolean {
  return lookedUpBy(from, column) === null;
}

export function cursorOf(next: readonly Value[]): string {
  return Buffer.from(JSON.stringify(next)).toString('base64url');
}

/** Null where it is none of ours: then the first page is shown. */
function cursorIn(text: string | null, length: number): readonly Value[] | null {
  if (text === null) return null;
  try {
    const values: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return Array.isArray(values) && values.length === length && values.every(isValue) ? values : null;
  } catch {
    return null;
  }
}

function isValue(value: unknown): value is Value {
  return value === null || typeof value === 'string' || typeof value === 'number';
}
