import { SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from 'kysely';
import { text as asKept } from '../../resources/columns.js';
import type { Expressions, OpenReader, Reader } from '../contract/reader.js';
import type { Value } from '../contract/tables.js';
import { type Asking, createReaderDb, type Readable } from '../reader.js';
import { type Files, openBoth } from './open-both.js';
import type { Sqlite } from './open.js';

/** Both databases, read-only. */
export function openReader(files: Files): OpenReader {
  const db = openBoth(files);
  const reader = readerOf(db);
  return {
    ...reader,
    close: async () => {
      await reader.db.destroy();
      db.close();
    },
  };
}

/** Readers on a connection that is somebody else's. Nothing waits on it: whoever asks gets it. */
export function readerOf(db: Sqlite): Reader {
  const asking = createAsking(db);
  const readable: Readable = {
    createAdapter: () => new SqliteAdapter(),
    createIntrospector: kysely => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new Compiler(),
    take: async () => asking,
    run: text => void db.exec(text),
  };
  return { db: createReaderDb(readable), say };
}

const WORD = /^[a-z_]+$/;

/** Words of closed sets stand in the statement itself: SQLite finds its partial indexes by them. All else is bound. */
class Compiler extends SqliteQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (typeof value === 'string' && WORD.test(value)) this.appendImmediateValue(value);
    else super.appendValue(typeof value === 'string' ? asKept(value) : value);
  }
}

const valuesOf = (values: unknown) => sql<never>`(SELECT value FROM json_each(${JSON.stringify(values)}))`;

const say: Expressions = { each: valuesOf, texts: valuesOf };

type Cells = Record<string, Value>;

function createAsking(db: Sqlite): Asking {
  const prepare = <R>(text: string) => db.prepare<unknown[], R & Cells>(text).safeIntegers();
  return {
    ask: async <R>(text: string, given: readonly unknown[]) =>
      prepare<R>(text)
        .all(...given)
        .map(narrow),
    async *stream<R>(text: string, given: readonly unknown[], size: number) {
      let rows: R[] = [];
      for (const row of prepare<R>(text).iterate(...given)) {
        rows.push(narrow(row));
        if (rows.length < size) continue;
        yield rows;
        rows = [];
      }
      yield rows;
    },
    end: async () => undefined,
  };
}

/** Read as whole integers, and handed on as numbers where these are whole too. */
function narrow<R extends Cells>(row: R): R {
  const cells: Cells = row;
  for (const name in cells) {
    const cell = cells[name];
    if (typeof cell !== 'bigint') continue;
    const number = Number(cell);
    if (Number.isSafeInteger(number)) cells[name] = number;
  }
  return row;
}
