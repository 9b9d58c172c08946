import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Sqlite, write } from '../open.js';

export type CertificateFiles = ReturnType<typeof createCertificateFiles>;

/** Files of certificates as those see them who hold the lock of all who write rows. */
export function createCertificateFiles(folder: string) {
  return {
    has: (file: string): boolean => existsSync(join(folder, file)),
    remove: (file: string): void => rmSync(join(folder, file), { force: true }),
  };
}

export type UnnamedFiles = ReturnType<typeof createUnnamedFiles>;

/**
 * Files that no row names, past rows included. They are removed under the lock of all who write rows, and a row is only
 * ever made to name a file that is there: so no row ever names one that is gone.
 */
export function createUnnamedFiles(db: Sqlite, { has, remove }: CertificateFiles) {
  const named = db
    .prepare<[string, string], number>(
      `SELECT EXISTS (SELECT 1 FROM certificates WHERE file = ?)
         OR EXISTS (SELECT 1 FROM past WHERE resource = 'certificates' AND json_extract(cells, '$.file') = ?)`,
    )
    .pluck();
  const isUnnamed = (file: string) => named.get(file, file) === 0;

  function removeLocked(files: readonly string[]): number {
    const found = files.filter(file => isUnnamed(file) && has(file));
    for (const file of found) remove(file);
    return found.length;
  }

  return {
    /** The same inside a transaction of the caller. */
    removeLocked,
    /** Removes those of a few files that no row names; answers how many. */
    remove: (files: readonly string[]): number =>
      files.some(isUnnamed) ? write(db, () => removeLocked(files)) : 0,
  };
}
