import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { type Files, openBoth } from './open-both.js';
import type { Sqlite } from './open.js';
import { NUMBER_AT } from './own-log.js';

const PRIVATE_FILE = 0o600;

/** Writes a consistent copy of the mirror to a new file; false where that is there already. */
export function snapshot(files: Files, file: string): boolean {
  const db = openBoth(files);
  try {
    return writeCopy(db, file);
  } finally {
    db.close();
  }
}

/**
 * Writes a consistent copy of the main database to a new file; false where that is there already.
 * It belongs to its owner alone from its first byte, and has its name only when it is whole and flushed.
 */
export function writeCopy(db: Sqlite, file: string): boolean {
  if (existsSync(file)) return false;
  const part = `${file}.${randomUUID()}.part`;
  const descriptor = openSync(part, 'wx', PRIVATE_FILE);
  try {
    db.prepare('VACUUM main INTO ?').run(part);
    makeStranger(descriptor);
    fsyncSync(descriptor);
    if (existsSync(file)) return false;
    renameSync(part, file);
    return true;
  } finally {
    closeSync(descriptor);
    rmSync(part, { force: true });
  }
}

/** Without a number the copy fits no log: not even that of the file which it was copied from. */
function makeStranger(descriptor: number): void {
  writeSync(descriptor, Buffer.alloc(4), 0, 4, NUMBER_AT);
}
