import type { Row } from './tables.js';

/**
 * Why a person's SQL query failed:
 * - `time_limit`: it reached its time limit.
 * - `too_large`: it needs more memory or disk than allowed.
 * - `unsafe_role`: the database role has powers beyond reading.
 * - `unknown_name`: a table or column does not exist.
 * - `in_brackets`: the whole statement is in brackets.
 * - `damaged`: the database that it reads is damaged.
 * - `ended`: the query or its process ended without a complete answer.
 * - `refused`: the database, or the check before it, refused it for another reason.
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

/** A person's SQL, and how long it may run. */
export interface SqlQuery {
  readonly sql: string;
  readonly timeLimitMs: number;
  /** Aborted when the caller no longer waits; ends the query. */
  readonly signal?: AbortSignal;
}

/** Creates the error of a query whose caller no longer waits. */
export function createAbortError(): SqlQueryError {
  return new SqlQueryError('ended', 'The question was left before its answer was whole.');
}

export interface StatementRows {
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<Row>;
}
