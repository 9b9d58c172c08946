import { randomUUID } from 'node:crypto';
import { existsSync, rmSync } from 'node:fs';
import type { Value } from '../contract/tables.js';
import { writeCopy } from './copy.js';
import { migrateFile } from './migrate.js';
import { openDatabase, type Sqlite, write } from './open.js';

interface Table {
  readonly name: string;
  readonly columns: readonly string[];
}

type Cells = Readonly<Record<string, Value>>;

/** All rows of a table, some at a time. */
export type ReadRows = (table: Table) => AsyncIterable<readonly Cells[]>;

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

/** What triggers keep comes with the rows. */
async function fill(db: Sqlite, read: ReadRows): Promise<void> {
  const triggers = db
    .prepare<[], { name: string; sql: string }>("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
    .all();
  write(db, () => {
    for (const { name } of triggers) db.exec(`DROP TRIGGER ${name}`);
  });
  for (const name of tablesOf(db)) await fillTable(db, name, read);
  write(db, () => {
    for (const { sql } of triggers) db.exec(sql);
  });
}

function tablesOf(db: Sqlite): string[] {
  return db
    .prepare<[], string>(
      `SELECT name FROM sqlite_schema
       WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> 'schema_migrations'`,
    )
    .pluck()
    .all();
}

async function fillTable(db: Sqlite, name: string, read: ReadRows): Promise<void> {
  const columns = db
    .prepare<[string], { name: string; type: string }>('SELECT name, type FROM pragma_table_info(?)')
    .all(name);
  const names = columns.map(column => column.name);
  const insert = db.prepare(
    `INSERT INTO ${name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  );
  write(db, () => db.exec(`DELETE FROM ${name}`));
  for await (const rows of read({ name, columns: names })) {
    write(db, () => {
      for (const row of rows)
        insert.run(columns.map(column => cellOf(row[column.name] ?? null, column.type)));
    });
  }
}

/** The driver binds every number as a REAL. */
function cellOf(value: Value, type: string): Value {
  return type === 'INTEGER' && typeof value === 'number' ? BigInt(value) : value;
}
