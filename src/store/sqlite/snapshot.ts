import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { sql } from 'kysely';
import { type CopiedRow, copyTable, listTables, type ReadRows } from '../copy-tables.js';
import { SQLITE } from '../dialect.js';
import { prepared } from '../sql/prepared.js';
import type { BoundStatement } from '../statement.js';
import { createStatementRunner } from './database.js';
import { migrateFile } from './migrate.js';
import { type DatabaseFiles, openReadOnly } from './open-read-only.js';
import { withDatabase, openDatabase, type Sqlite } from './open-database.js';

const PRIVATE_FILE = 0o600;
const BATCH_ROWS = 250;

/** Writes a consistent copy of the mirror to a new file. Returns false if the file exists. */
export function snapshot(files: DatabaseFiles, file: string): boolean {
  return withDatabase(openReadOnly(files), db => writeCopy(db, file));
}

/** Creates a mirror.db and fills it with the rows that `read` returns from another engine. Returns false if the file exists. */
export async function writeMirrorFile(file: string, migratedAt: string, read: ReadRows): Promise<boolean> {
  if (existsSync(file)) return false;
  const draft = `${file}.${randomUUID()}.draft`;
  try {
    migrateFile(draft, 'mirror', migratedAt);
    const db = openDatabase(draft, { busyTimeoutMs: 0 });
    try {
      const runner = createStatementRunner(db);
      const write = (statement: BoundStatement): void => {
        runner.runInTransaction([statement.bind(SQLITE)]);
        runner.endTransaction(true);
      };
      for (const table of listTables('mirror')) await copyTable(table, read, write);
      return writeCopy(db, file);
    } finally {
      db.close();
    }
  } finally {
    for (const name of [draft, `${draft}-wal`, `${draft}-shm`]) rmSync(name, { force: true });
  }
}

/** Creates a function that reads the rows of a table in groups, to copy them to another engine. */
export function createRowReader(db: Sqlite): ReadRows {
  return async function* read({ name, columns }) {
    const list = sql.join(Object.keys(columns).map(column => sql.id(column)));
    const { text } = prepared(() => sql`SELECT ${list} FROM ${sql.table(name)}`).compileFor(SQLITE);
    let rows: CopiedRow[] = [];
    for (const row of db.prepare<[], CopiedRow>(text).safeIntegers().iterate()) {
      rows.push(row);
      if (rows.length < BATCH_ROWS) continue;
      yield rows;
      rows = [];
    }
    yield rows;
  };
}

/**
 * Writes a consistent copy of the main database to a new file. Returns false if the file exists. The file is never readable by
 * others, and gets its name after it is complete and flushed.
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
