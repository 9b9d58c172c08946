import { setImmediate as pause } from 'node:timers/promises';
import { type Sqlite, write } from '../database/open.js';
import { type CertificateFolder, LEFTOVER_AFTER_MS } from './certificates.js';

const REMOVED_AT_ONCE = 64;

/**
 * Files of certificates that no row names, past rows included. They are removed under the lock of all who write rows,
 * and a row is only ever made to name a file that is there: so no row ever names one that is gone.
 */
export interface UnnamedFiles {
  /** Removes those of a few files that no row names; answers how many. */
  remove(files: readonly string[]): number;
  /** The same inside a transaction of the caller. */
  removeLocked(files: readonly string[]): number;
  /** The same for any number, with others between. */
  removeAll(files: readonly string[]): Promise<number>;
  /**
   * The same for what a killed process has left in the folder. What was written lately may be about to get its row, and
   * what is older than the mirror was fetched for another one: both stay.
   */
  sweep(now: number, signal: AbortSignal): Promise<number>;
}

export function createUnnamedFiles(db: Sqlite, folder: CertificateFolder): UnnamedFiles {
  const named = db
    .prepare<[string, string], number>(
      `SELECT EXISTS (SELECT 1 FROM certificates WHERE file = ?)
         OR EXISTS (SELECT 1 FROM certificates_past WHERE file = ?)`,
    )
    .pluck();
  const born = db.prepare<[], string>('SELECT created_at FROM origin').pluck();
  const isUnnamed = (file: string) => named.get(file, file) === 0;

  function removeLocked(files: readonly string[]): number {
    const found = files.filter(file => isUnnamed(file) && folder.has(file));
    for (const file of found) folder.remove(file);
    return found.length;
  }

  function remove(files: readonly string[]): number {
    return files.some(isUnnamed) ? write(db, () => removeLocked(files)) : 0;
  }

  return {
    remove,
    removeLocked,
    removeAll: async files => {
      let removed = 0;
      for (let from = 0; from < files.length; from += REMOVED_AT_ONCE) {
        removed += remove(files.slice(from, from + REMOVED_AT_ONCE));
        await pause();
      }
      await folder.flush();
      return removed;
    },
    sweep: async (now, signal) => {
      const since = born.get();
      if (since === undefined) return 0;
      let removed = 0;
      for await (const files of folder.writtenBetween(Date.parse(since), now - LEFTOVER_AFTER_MS)) {
        if (signal.aborted) break;
        removed += remove(files);
      }
      return removed;
    },
  };
}
