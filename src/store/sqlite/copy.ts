import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { type Cells, copyTable, type Read, tablesIn } from '../copy-tables.js';
import { SQLITE } from '../dialect.js';
import type { BoundStatement } from '../statement.js';
import { createWorks } from './database.js';
import { migrateFile } from './migrate.js';
import { type Files, openBoth } from './open-both.js';
import { closing, openDatabase, type Sqlite } from './open.js';

const PRIVATE_FILE = 0o600;
const ROWS_AT_ONCE = 250;

/** Writes a consistent copy of the mirror to a new file; false where that is there already. */
export function snapshot(files: Files, file: string): boolean {
  return closing(openBoth(files), db => writeCopy(db, file));
}

/** The same of a mirror that another engine reads out. */
export async function writeFilled(file: string, at: string, read: Read): Promise<boolean> {
  if (existsSync(file)) return false;
  const draft = `${file}.${randomUUID()}.draft`;
  try {
    migrateFile(draft, 'mirror', at);
    const db = openDatabase(draft, { busyTimeoutMs: 0 });
    try {
      const works = createWorks(db);
      const write = (statement: BoundStatement): void => {
        works.send([statement.bind(SQLITE)]);
        works.end(true);
      };
      for (const table of tablesIn('mirror')) await copyTable(table, read, write);
      return writeCopy(db, file);
    } finally {
      db.close();
    }
  } finally {
    for (const name of [draft, `${draft}-wal`, `${draft}-shm`]) rmSync(name, { force: true });
  }
}

/** Reads a file out for another engine. */
export function readerIn(db: Sqlite): Read {
  return async function* read({ name, columns }) {
    const asked = `SELECT ${Object.keys(columns).join(', ')} FROM ${nameIn(name)}`;
    let rows: Cells[] = [];
    for (const row of db.prepare<[], Cells>(asked).safeIntegers().iterate()) {
      rows.push(row);
      if (rows.length < ROWS_AT_ONCE) continue;
      yield rows;
      rows = [];
    }
    yield rows;
  };
}

export function nameIn(name: string): string {
  return name.replace(/^\w+\./, '');
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
    fsyncSync(descriptor);
    if (existsSync(file)) return false;
    renameSync(part, file);
    return true;
  } finally {
    closeSync(descriptor);
    rmSync(part, { force: true });
  }
}
