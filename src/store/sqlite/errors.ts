/**
 * foreign_log: the log beside a database was written for another file than the one that stands there.
 * damaged: SQLite cannot read it. in_use: a process has it open that should be stopped. schema: it is yet to be migrated, or a newer program's.
 * earlier: it was made before the first release, and no way leads from there.
 */
export type DatabaseErrorCode = 'foreign_log' | 'damaged' | 'schema' | 'earlier' | 'in_use';

export class DatabaseError extends Error {
  override readonly name = 'DatabaseError';
  readonly code: DatabaseErrorCode;
  readonly file: string;

  constructor(code: DatabaseErrorCode, file: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.file = file;
  }
}

const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/;

/** What SQLite throws where a file is damaged, named; anything else as it came. */
export function namedDamage(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('code' in error) || !DAMAGED.test(String(error.code))) return error;
  return new DatabaseError('damaged', file, `${file} is damaged: ${error.message}.`, { cause: error });
}
