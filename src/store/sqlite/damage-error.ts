import { StoreError } from '../store-error.js';

const DAMAGED = /^SQLITE_(CORRUPT|NOTADB)/;

/** Converts SQLite's error for a damaged file to a `StoreError`. Returns other errors unchanged. */
export function toDamageError(error: unknown, file: string): unknown {
  if (!(error instanceof Error) || !('code' in error) || !DAMAGED.test(String(error.code))) return error;
  return new StoreError('damaged', `${file} is damaged: ${error.message}.`, { file, cause: error });
}
