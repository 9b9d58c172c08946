import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import type { Relation } from '../../../migrations/schema.js';
import { SQLITE } from '../dialect.js';
import { type Cells, insertRows, tablesIn } from '../moving/rows.js';
import { type Asked, createBinder, fixed } from '../statement.js';
import { writeCopy } from './copy.js';
import { createWorks } from './database.js';
import { migrateFile } from './migrate.js';
import { openDatabase, type Sqlite } from './open.js';

const bind = createBinder(SQLITE);

/** All rows of a table, some at a time. */
export type ReadRows = (table: Relation) => AsyncIterable<readonly Cells[]>;

/** Writes a mirror of another engine to a new file; false where that is there already. */
export async function writeFilled(file: string, at: string, read: ReadRows): Promise<boolean> {
  if (existsSync(file)) return false;
  const draft = `${file}.${randomUUID()}.draft`;
  try {
    migrateFile(draft, 'mirror', at);
    const db = openDatabase(draft, { busyTimeoutMs: 0 });
    try {
      await fill(db, read);
      return writeCopy(db, file);
    } finally {
      db.close();
    }
  } finally {
    for (const name of [draft, `${draft}-wal`, `${draft}-shm`]) rmSync(name, { force: true });
  }
}

async function fill(db: Sqlite, read: ReadRows): Promise<void> {
  const works = createWorks(db);
  const run = (asked: Asked) => {
    works.send([bind(asked)]);
    works.end(true);
  };
  for (const table of tablesIn('mirror')) {
    run(fixed(`DELETE FROM ${table.name}`));
    for await (const rows of read(table)) run(insertRows(table, rows));
  }
}
