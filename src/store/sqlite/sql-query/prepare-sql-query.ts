import { assertReadOnlySql } from '../../contract/check-sql-query.js';
import type { Value } from '../../contract/tables.js';
import type { Sqlite } from '../open-database.js';

export interface ReadOnlyStatement {
  columns(): { readonly name: string }[];
  iterate(): IterableIterator<Value[]>;
}

/**
 * Prepare a person's SQL, or say why it is refused. It must begin like a read,
 * be one statement, and SQLite itself must call it both read-only and a reader:
 * ATTACH, VACUUM INTO and some PRAGMAs pass one of these tests but not all.
 */
export function prepareSqlQuery(db: Sqlite, text: string): ReadOnlyStatement {
  assertReadOnlySql(text);
  const statement = db.prepare<[], Value[]>(text);
  if (!statement.readonly || !statement.reader) {
    throw new Error('expected a statement that only reads, but this one does more');
  }
  return statement.raw().safeIntegers();
}
