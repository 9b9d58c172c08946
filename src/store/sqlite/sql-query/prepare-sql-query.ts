import { assertStartsLikeQuery } from '../../contract/sql-query.js';
import type { Value } from '../../contract/tables.js';
import type { Sqlite } from '../open-database.js';

/** A prepared statement that only reads. Its rows are arrays of values. */
export interface ReadOnlyStatement {
  columns(): { readonly name: string }[];
  iterate(): IterableIterator<Value[]>;
}

/**
 * Prepares a user's SQL. Throws unless it is a single statement that only reads. Several checks are needed, because ATTACH,
 * VACUUM INTO and some PRAGMAs pass one or two of them.
 */
export function prepareSqlQuery(db: Sqlite, text: string): ReadOnlyStatement {
  assertStartsLikeQuery(text);
  const statement = db.prepare<[], Value[]>(text);
  if (!statement.readonly || !statement.reader) {
    throw new Error('expected a statement that only reads, but this one does more');
  }
  return statement.raw().safeIntegers();
}
