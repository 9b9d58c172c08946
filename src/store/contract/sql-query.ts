import type { Row } from './tables.js';

/**
 * time_limit: stopped at it. too_large: it needs more memory than it may. ended: no answer. damaged: what it reads.
 * unsafe_role: whoever asks may do too much to ask anything. unknown_name: of a table or a column. in_brackets: the whole statement. refused: any other no of the engine or ours.
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

/** What to do where questions have an unsafe role. */
export const SAFE_ROLE_ADVICE =
  'Make a role that may only read, and name it in QUERY_DATABASE_URL (docs/deploy.md).';

/** A person's SQL, and how long it may run. */
export interface SqlQuery {
  readonly sql: string;
  readonly timeLimitMs: number;
  /** Of whoever asked: where they go, the work is ended. */
  readonly signal?: AbortSignal;
}

/** Whoever asked is gone. */
export function createAbortError(): SqlQueryError {
  return new SqlQueryError('ended', 'The question was left before its answer was whole.');
}

export interface StatementRows {
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<Row>;
}
