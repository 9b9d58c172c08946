import { chmodSync, closeSync, existsSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { createPrivateFolder } from '../../folder.js';
import { StoreError } from '../store-error.js';
import { Database, type Sqlite } from './driver.js';
import { toDamageError } from './damage-error.js';

export type { Sqlite } from './driver.js';

export interface OpenOptions {
  /** How long a statement waits for a lock. It blocks the thread meanwhile. */
  readonly busyTimeoutMs: number;
  readonly readonly?: boolean;
  /** The page size of a new file. An existing file keeps its own. */
  readonly newPageBytes?: number;
}

const FULL = 2;
const PRIVATE_FILE = 0o600;

/** Opens a database file, and creates it unless `readonly`. Commits are flushed to disk, and only the owner may read the file. */
export function openDatabase(file: string, options: OpenOptions): Sqlite {
  const readonly = options.readonly ?? false;
  assertRegularFiles(file);
  if (!readonly) ensurePrivateFiles(file);
  const db = new Database(file, { readonly, fileMustExist: true, timeout: options.busyTimeoutMs });
  try {
    if (options.newPageBytes !== undefined) db.pragma(`page_size = ${options.newPageBytes}`);
    if (!readonly) db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma('foreign_keys = ON');
    assertPragma(db, 'synchronous', FULL, file);
    assertPragma(db, 'foreign_keys', 1, file);
    if (!readonly) assertPragma(db, 'journal_mode', 'wal', file);
    return db;
  } catch (error) {
    db.close();
    throw toDamageError(error, file);
  }
}

/** Calls `work`, which must be synchronous, with `db` and returns its result. Closes `db` afterwards, even if `work` throws. */
export function withDatabase<T>(db: Sqlite, work: (db: Sqlite) => T): T {
  try {
    return work(db);
  } finally {
    db.close();
  }
}

interface OpenTransaction {
  readonly commit: () => void;
  readonly rollBack: () => void;
}

/** Begins a transaction that locks the database for writing at once. Without that lock, a write after a read could fail. */
export function beginTransaction(db: Sqlite): OpenTransaction {
  db.exec('BEGIN IMMEDIATE');
  return {
    commit: () => db.exec('COMMIT'),
    rollBack: () => {
      if (db.inTransaction) db.exec('ROLLBACK');
    },
  };
}

/**
 * Runs `work`, which must be synchronous, in a transaction that locks the database for writing at once, and returns its result.
 * Rolls back if `work` or the commit throws.
 */
export function runInTransaction<T>(db: Sqlite, work: () => T): T {
  const transaction = beginTransaction(db);
  try {
    const result = work();
    transaction.commit();
    return result;
  } catch (error) {
    transaction.rollBack();
    throw error;
  }
}

/** Throws unless a database and its logs are regular files. Opening a pipe would block. */
export function assertRegularFiles(file: string): void {
  for (const name of [file, `${file}-wal`, `${file}-shm`, `${file}-journal`]) {
    if (statSync(name, { throwIfNoEntry: false })?.isFile() !== false) continue;
    throw new StoreError('damaged', `${name} is no file, but a folder, a pipe or a device.`, { file });
  }
}

/** Creates the file if it is missing, and lets only its owner read it and its logs. */
function ensurePrivateFiles(file: string): void {
  createPrivateFolder(dirname(file));
  if (!existsSync(file)) createPrivateFile(file);
  for (const name of [file, `${file}-wal`, `${file}-shm`]) {
    const mode = statSync(name, { throwIfNoEntry: false })?.mode;
    if (mode !== undefined && (mode & 0o777) !== PRIVATE_FILE) chmodSync(name, PRIVATE_FILE);
  }
}

/**
 * Creates an empty file that only its owner may read. Never opens an existing database file: closing it would drop the locks that
 * SQLite holds on the file in this process, and another process could then delete the write-ahead log with committed rows.
 */
function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'wx', PRIVATE_FILE));
  } catch (error) {
    if (!existsSync(file)) throw error;
  }
}

/** Throws unless a PRAGMA has the expected value. */
function assertPragma(db: Sqlite, pragma: string, expected: string | number, file: string): void {
  const actual = db.pragma(pragma, { simple: true });
  if (actual !== expected) {
    throw new Error(`${file}: expected PRAGMA ${pragma} to be ${expected}, but it is ${String(actual)}`);
  }
}
