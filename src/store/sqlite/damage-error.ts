import { StoreError } from '../store-error.js';

const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/;

/** What SQLite throws where a file is damaged, named; anything else as it came. */
export function toDamageError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('code' in error) || !DAMAGED.test(String(error.code))) return error;
  return new StoreError('damaged', `${file} is damaged: ${error.message}.`, { file, cause: error });
}
