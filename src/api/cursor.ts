/** Pagination cursors: the sort values of the last row, bound to the list and its filters. A cursor is never SQL. */
import { createHash } from 'node:crypto';
import type { ListRequest } from '../query/lists/list-type.js';
import { TABLES, type Value } from '../store/contract/tables.js';
import { createBadRequest } from './problem.js';

type CursorRequest = Pick<ListRequest, 'list' | 'at' | 'filters'>;

const INTEGERS: readonly string[] = ['id', 'counted', 'int', 'large'];
const MAX_LENGTH = 4_096;
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Encodes the sort values of a page's last row, and a digest of the request, as the cursor of the next page. */
export function formatCursor(request: CursorRequest, values: readonly Value[]): string {
  const texts = values.map(value => (value === null ? null : String(value)));
  return Buffer.from(JSON.stringify([digestRequest(request), ...texts])).toString('base64url');
}

/** Decodes a cursor to the sort values of a row. Throws a 400 problem if the cursor is from another list or other filters. */
export function parseCursor(request: CursorRequest, cursor: string): readonly Value[] {
  const [digest, ...texts] = decodeCursor(cursor);
  const { order, from } = request.list;
  if (digest !== digestRequest(request) || texts.length !== order.length)
    throw createBadRequest('after: expected the value of "next" of a page with the same filters.');
  return texts.map((text, index) => parseValue(from, order[index]?.[0] ?? '', text ?? null));
}

/** Returns a short hash of the list, instant and filters of a request. A cursor is valid for requests with the same hash. */
function digestRequest({ list, at, filters }: CursorRequest): string {
  const chosen = filters.map(({ name, text }) => [name, text]);
  return createHash('sha256')
    .update(JSON.stringify([list.name, at, chosen]))
    .digest('base64url')
    .slice(0, 16);
}

const MALFORMED = 'after: expected the value of "next" of the previous page.';

/** Decodes the base64url JSON of a cursor; null stands for an empty sort column. Throws a 400 problem if it is malformed. */
function decodeCursor(cursor: string): readonly (string | null)[] {
  if (!/^[\w-]+$/.test(cursor) || cursor.length > MAX_LENGTH) throw createBadRequest(MALFORMED);
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(values) && values.every(isTextOrNull)) return values;
  } catch {
    // The text below says what was expected.
  }
  throw createBadRequest(MALFORMED);
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || (typeof value === 'string' && !value.includes('\0'));
}

/** Parses a sort value to the type of its column, because PostgreSQL cannot compare a number column with text. */
function parseValue(table: string, column: string, text: string | null): Value {
  if (text === null) return null;
  const [kind = 'text'] = TABLES[table]?.[column] ?? [];
  if (INTEGERS.includes(kind)) {
    if (/^-?\d{1,19}$/.test(text) && isInt64(BigInt(text))) return parseInteger(text);
  } else if (kind === 'real') {
    if (text !== '' && Number.isFinite(Number(text))) return Number(text);
  } else if (kind !== 'instant' || isInstant(text)) return text;
  throw createBadRequest(MALFORMED);
}

/** Whether a text is an instant that exists: February has no 30th. */
function isInstant(text: string): boolean {
  return INSTANT.test(text) && !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text;
}

function isInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** Parses an integer. Returns a bigint if a number would lose digits. */
function parseInteger(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}
