import { join } from 'node:path';
import { openDatabase, runInTransaction } from '../../src/store/sqlite/open-database.js';

const PAGES_PER_TRANSACTION = 500;

/** Keeps a reader of mirror.db open and writes more than 16 MiB to the write-ahead log. Returns a function that ends both. */
export function holdWriteAheadLog(folder: string): () => void {
  const file = join(folder, 'mirror.db');
  const writer = openDatabase(file, { busyTimeoutMs: 60_000 });
  writer.exec('CREATE TABLE scratch (x BLOB)');
  const insert = writer.prepare('INSERT INTO scratch VALUES (zeroblob(4000))');
  const reader = openDatabase(file, { busyTimeoutMs: 1000, readonly: true });
  reader.exec('BEGIN');
  reader.prepare('SELECT count(*) FROM scratch').get();
  for (let turn = 0; turn < 10; turn += 1) {
    runInTransaction(writer, () => {
      for (let page = 0; page < PAGES_PER_TRANSACTION; page += 1) insert.run();
    });
  }
  return () => {
    reader.exec('COMMIT');
    reader.close();
    writer.exec('DROP TABLE scratch');
    writer.close();
  };
}

/** Locks a database from another connection. Returns a function that releases the lock. */
export function holdLock(file: string): () => void {
  const connection = openDatabase(file, { busyTimeoutMs: 0 });
  connection.exec('BEGIN IMMEDIATE');
  return () => void connection.close();
}

/** Starts a query and leaves it open. Returns a function that ends it. */
export function holdReader(file: string, sql: string): () => void {
  const reader = openDatabase(file, { busyTimeoutMs: 0, readonly: true });
  const rows = reader.prepare(sql).iterate();
  rows.next();
  return () => {
    rows.return?.();
    reader.close();
  };
}
