import type { Row } from './tables.js';

/**
 * Why a person's SQL query failed:
 * - `time_limit`: it reached its time limit.
 * - `too_large`: it needs more memory or disk than allowed.
 * - `unsafe_role`: the database role has powers beyond reading.
 * - `unknown_name`: a table or column does not exist.
 * - `in_brackets`: the whole statement is in brackets.
 * - `damaged`: the database is damaged.
 * - `ended`: the query was cancelled, or its process ended.
 * - `refused`: the database refused the query for another reason, or the query does not begin like a read.
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

/** A person's SQL query and its time limit. */
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
