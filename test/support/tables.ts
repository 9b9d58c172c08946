import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { retryWhileBusy } from '../../src/store/sqlite/database.js';
import { openDatabase, type Sqlite } from '../../src/store/sqlite/open-database.js';

export type Value = string | number | bigint | null | Uint8Array;

/** Lets tests read and change rows directly. Tables of the mirror and of the inbox are found by their names. */
export interface Tables {
  readonly rows: <Row = Record<string, unknown>>(sql: string, ...values: Value[]) => Promise<Row[]>;
  /** The first row; undefined if there is none. */
  readonly row: <Row = Record<string, unknown>>(sql: string, ...values: Value[]) => Promise<Row | undefined>;
  /** The only column of every row. */
  readonly column: <Cell = unknown>(sql: string, ...values: Value[]) => Promise<Cell[]>;
  /** The only column of the first row; undefined if there is none. */
  readonly value: <Cell = unknown>(sql: string, ...values: Value[]) => Promise<Cell | undefined>;
  /** The names of all tables, without views. */
  readonly tables: () => Promise<string[]>;
  readonly views: () => Promise<string[]>;
  /** The names of the columns of a table or view. */
  readonly columns: (table: string) => Promise<string[]>;
  /** Runs one statement, or several without values, in one transaction. */
  readonly change: (sql: string, ...values: Value[]) => Promise<void>;
}

const BUSY_MS = 5000;

/** Opens the databases of a folder. Each statement uses a connection of its own, and none stays open. */
export function openTablesIn(folder: string): Tables {
  return tables(connectForEachCall(readonly => openMirrorAndInbox(folder, readonly)));
}

/** Opens the databases of a folder with one connection while `work` runs. Opening takes longer than most queries. */
export async function withOpenTables<T>(folder: string, work: (tables: Tables) => Promise<T>): Promise<T> {
  const db = openMirrorAndInbox(folder, true);
  try {
    return await work(createTables(db));
  } finally {
    db.close();
  }
}

/** Opens one database file. Each statement uses a connection of its own. */
export function openTablesOfFile(file: string): Tables {
  return tables(connectForEachCall(readonly => openDatabase(file, { busyTimeoutMs: BUSY_MS, readonly })));
}

/** Reads and changes rows through a connection that stays open. */
export function createTables(db: Sqlite): Tables {
  return tables(async (_readonly, work) => work(db));
}

/** Opens the mirror as `main` and the inbox as `inbox`; only the inbox if there is no mirror. */
export function openMirrorAndInbox(folder: string, readonly: boolean): Sqlite {
  const [mirror, inbox] = [join(folder, 'mirror.db'), join(folder, 'inbox.db')];
  const options = { busyTimeoutMs: BUSY_MS, readonly };
  if (!existsSync(mirror)) return openDatabase(inbox, options);
  const db = openDatabase(mirror, options);
  if (existsSync(inbox)) db.prepare('ATTACH DATABASE ? AS inbox').run(inbox);
  return db;
}

/** Copies both databases, even while programs use them. */
export function copyDatabases(from: string, to: string): void {
  for (const name of ['mirror.db', 'inbox.db']) {
    const db = openDatabase(join(from, name), { busyTimeoutMs: BUSY_MS, readonly: true });
    db.prepare('VACUUM INTO ?').run(join(to, name));
    db.close();
  }
}

type WithConnection = <T>(readonly: boolean, work: (db: Sqlite) => T | Promise<T>) => Promise<T>;

function connectForEachCall(open: (readonly: boolean) => Sqlite): WithConnection {
  return async (readonly, work) => {
    const db = open(readonly);
    try {
      return await work(db);
    } finally {
      db.close();
    }
  };
}

function tables(use: WithConnection): Tables {
  return {
    rows: async <Row>(sql: string, ...values: Value[]) =>
      use(true, db => db.prepare<Value[], Row>(sql).all(...values)),
    row: async <Row>(sql: string, ...values: Value[]) =>
      use(true, db => db.prepare<Value[], Row>(sql).get(...values)),
    column: async <Cell>(sql: string, ...values: Value[]) =>
      use(true, db =>
        db
          .prepare<Value[], Cell>(sql)
          .pluck()
          .all(...values),
      ),
    value: async <Cell>(sql: string, ...values: Value[]) =>
      use(true, db =>
        db
          .prepare<Value[], Cell>(sql)
          .pluck()
          .get(...values),
      ),
    tables: async () => use(true, db => listNames(db, 'table')),
    views: async () => use(true, db => listNames(db, 'view')),
    columns: async table =>
      use(true, db =>
        db
          .prepare(`SELECT * FROM ${table} LIMIT 0`)
          .columns()
          .map(({ name }) => name),
      ),
    change: async (sql, ...values) =>
      use(false, db => {
        const change = () => (values.length === 0 ? db.exec(sql) : db.prepare(sql).run(...values));
        return retryWhileBusy(db, () => void db.transaction(change).immediate());
      }),
  };
}

function listNames(db: Sqlite, type: 'table' | 'view'): string[] {
  return db
    .prepare<[string], string>(
      "SELECT name FROM pragma_table_list WHERE type = ? AND name NOT LIKE 'sqlite_%'",
    )
    .pluck()
    .all(type);
}
