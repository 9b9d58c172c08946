import type { Row } from './tables.js';

/**
 * time_limit: stopped at it. too_large: it needs more memory than it may. ended: no answer. damaged: what it reads.
 * unknown_name: of a table or a column. in_brackets: the whole statement. refused: any other no of the engine or ours.
 */
export type AskErrorCode =
  | 'time_limit'
  | 'too_large'
  | 'refused'
  | 'unknown_name'
  | 'in_brackets'
  | 'damaged'
  | 'ended';

export class AskError extends Error {
  override readonly name = 'AskError';
  readonly code: AskErrorCode;

  constructor(code: AskErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** A person's SQL, and how long it may run. */
export interface Question {
  readonly sql: string;
  readonly timeLimitMs: number;
}

export interface Asked {
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<Row>;
}
