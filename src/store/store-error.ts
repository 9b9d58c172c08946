/**
 * Why a database cannot be used:
 * - `older`: its schema was not migrated yet.
 * - `newer`: a newer program has migrated it.
 * - `earlier`: an unreleased program made it, and it cannot be migrated.
 * - `foreign`: its schema belongs to another program.
 * - `encoding`: its encoding is not UTF8.
 * - `in_use`: a process that must be stopped has it open.
 * - `used`: it contains data, so files cannot be moved into it.
 * - `unfinished`: files are being moved into it, or that was interrupted.
 * - `damaged`: it cannot be read.
 * - `refused`: the database role lacks a privilege.
 * - `missing`: there is no such database.
 * - `away`: it cannot be reached, is starting or is overloaded; a retry may work.
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

interface StoreErrorOptions extends ErrorOptions {
  /** The database file; absent for PostgreSQL. */
  readonly file?: string;
}

export class StoreError extends Error {
  override readonly name = 'StoreError';
  readonly code: StoreErrorCode;
  readonly file: string | null;

  constructor(code: StoreErrorCode, message: string, { file, ...options }: StoreErrorOptions = {}) {
    super(message, options);
    this.code = code;
    this.file = file ?? null;
  }
}
