/**
 * older: its schema is yet to be migrated. newer: a newer program has migrated it. earlier: it was made before the first
 * release, and no way leads from there. foreign: what stands there is somebody else's. encoding: not UTF8.
 * in_use: a process has it open that should be stopped. used: files cannot be moved into it. unfinished: files are being
 * moved into it. damaged: it cannot be read.
 * refused: whoever asks may not do this. missing: there is no such database.
 * away: it cannot be reached, is starting, in recovery, out of connections or too slow; the same may work later.
 */
export type StoreErrorCode =
  | 'older'
  | 'newer'
  | 'earlier'
  | 'foreign'
  | 'encoding'
  | 'in_use'
  | 'used'
  | 'unfinished'
  | 'damaged'
  | 'refused'
  | 'missing'
  | 'away';

interface Options extends ErrorOptions {
  /** Of a database that is one. */
  readonly file?: string;
}

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  readonly file: string | null;

  constructor(code: StoreErrorCode, message: string, { file, ...options }: Options = {}) {
    super(message, options);
    this.code = code;
    this.file = file ?? null;
  }
}
