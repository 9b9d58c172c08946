import type { Row, Value } from './tables.js';

/**
 * Why an SQL query that a user wrote failed:
 * - `time_limit`: it reached its time limit.
 * - `too_large`: it needs more memory or disk than allowed.
 * - `unsafe_role`: the database role has powers beyond reading.
 * - `unknown_name`: a table or column does not exist.
 * - `in_brackets`: the whole statement is in brackets.
 * - `damaged`: the database is damaged.
 * - `ended`: the query was cancelled, or its process ended.
 * - `refused`: the database refused the query for another reason, or it does not begin like a query that reads.
 */
export type SqlQueryErrorCode =
  | 'time_limit'
  | 'too_large'
  | 'refused'
  | 'unsafe_role'
  | 'unknown_name'
  | 'in_brackets'
  | 'damaged'
  | 'ended';

export class SqlQueryError extends Error {
  override readonly name = 'SqlQueryError';
  readonly code: SqlQueryErrorCode;

  constructor(code: SqlQueryErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Advice for a database role that may do more than read. */
export const SAFE_ROLE_ADVICE =
  'Make a role that may only read, and name it in QUERY_DATABASE_URL (docs/deploy.md).';

/** An SQL query that a user wrote, and its time limit. */
export interface SqlQuery {
  readonly sql: string;
  readonly timeLimitMs: number;
  /** Aborted when the caller no longer waits. Cancels the query. */
  readonly signal?: AbortSignal;
}

/** Creates the error of a query whose caller no longer waits. */
export function createAbortError(): SqlQueryError {
  return new SqlQueryError('ended', 'The query was cancelled before it had finished.');
}

/** The result of an SQL query. */
export interface StatementRows {
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<Row>;
}

const BEGINS_LIKE_READ = /^(select|with|values|explain)\b/i;
const MB = 1024 * 1024;
/** Limits a row. The limit is low, because a value is copied six times on its way to a terminal. */
const MAX_ROW_BYTES = 4 * MB;

/**
 * Throws an `SqlQueryError` unless the SQL that a user wrote begins with SELECT, WITH, VALUES or EXPLAIN. Does not check the rest of the
 * SQL, so this check alone does not prevent writes.
 */
export function assertStartsLikeQuery(sql: string): void {
  const start = skipLeadingComments(sql);
  if (BEGINS_LIKE_READ.test(start)) return;
  throw new SqlQueryError(
    start.startsWith('(') ? 'in_brackets' : 'refused',
    `expected one statement that begins with SELECT, WITH, VALUES or EXPLAIN, but it begins with "${start.slice(0, 20)}"`,
  );
}

/** Returns the SQL text without the spaces and comments at its beginning. */
export function skipLeadingComments(text: string): string {
  let rest = text.trimStart();
  for (;;) {
    const comment = /^(--[^\n]*(\n|$)|\/\*[\s\S]*?\*\/)/.exec(rest);
    if (comment === null) return rest;
    rest = rest.slice(comment[0].length).trimStart();
  }
}

/** Thrown if a row is too large to show. */
export class TooLargeError extends Error {
  override readonly name = 'TooLargeError';
}

/** Returns the approximate size of a row in bytes. Throws a `TooLargeError` if the row is too large to show. */
export function measureRow(row: readonly Value[]): number {
  let bytes = 0;
  for (const value of row) {
    if (typeof value === 'string' || value instanceof Uint8Array) bytes += value.length;
  }
  if (bytes <= MAX_ROW_BYTES) return bytes;
  throw new TooLargeError(`a row has ${Math.ceil(bytes / MB)} MB, the limit is ${MAX_ROW_BYTES / MB} MB`);
}

/** Combines the names of columns with the cells of one row. */
export function toRow(columns: readonly string[], cells: readonly Value[]): Row {
  return Object.fromEntries(columns.map((name, index) => [name, cells[index] ?? null]));
}

/** Appends numbers to repeated column names, because an object cannot have two keys with the same name. */
export function makeNamesUnique(columns: readonly string[]): string[] {
  const seen = new Map<string, number>();
  return columns.map(name => {
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name}:${count}`;
  });
}
