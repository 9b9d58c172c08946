/** schema: it is not that of this program. foreign: a schema of that name belongs to somebody else. encoding: not UTF8. */
export type PostgresErrorCode = 'schema' | 'foreign' | 'encoding';

export class PostgresError extends Error {
  override readonly name = 'PostgresError';
  readonly code: PostgresErrorCode;

  constructor(code: PostgresErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
