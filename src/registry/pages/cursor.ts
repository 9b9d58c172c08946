import { RegistryError } from '../errors.js';

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
