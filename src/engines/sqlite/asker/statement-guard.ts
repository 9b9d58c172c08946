import type { Value } from '../../contract/tables.js';
import type { Sqlite } from '../open.js';

const READS = /^(select|with|values|explain)\b/i;

export interface Reading {
  columns(): { readonly name: string }[];
  iterate(): IterableIterator<Value[]>;
}

/**
 * Prepare a person's SQL, or say why it is refused. It must begin like a read,
 * be one statement, and SQLite itself must call it both read-only and a reader:
 * ATTACH, VACUUM INTO and some PRAGMAs pass one of these tests but not all.
 */
export function prepareReading(db: Sqlite, text: string): Reading {
  const word = withoutComments(text);
  if (!READS.test(word)) {
    throw new Error(
      `expected one statement that begins with SELECT, WITH, VALUES or EXPLAIN, but it begins with "${word.slice(0, 20)}"`,
    );
  }
  const statement = db.prepare<[], Value[]>(text);
  if (!statement.readonly || !statement.reader) {
    throw new Error('expected a statement that only reads, but this one does more');
  }
  return statement.raw().safeIntegers();
}

function withoutComments(text: string): string {
  let rest = text.trimStart();
  for (;;) {
    const comment = /^(--[^\n]*(\n|$)|\/\*[\s\S]*?\*\/)/.exec(rest);
    if (comment === null) return rest;
    rest = rest.slice(comment[0].length).trimStart();
  }
}
