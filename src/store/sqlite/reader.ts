import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely';
import { text as asKept } from '../../resources/columns.js';
import type { Expressions, OpenReader, Reader } from '../contract/reader.js';
import type { Tables, Value } from '../contract/tables.js';
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

/** Readers on a connection that is somebody else's. */
export function readerOf(db: Sqlite): Reader {
  const dialect = {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => createDriver(db),
    createIntrospector: (kysely: Kysely<unknown>) => new SqliteIntrospector(kysely),
    createQueryCompiler: () => new Compiler(),
  };
  return { db: new Kysely<Tables>({ dialect }), say };
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

/** One connection, on which nothing waits: whoever asks gets it. */
function createDriver(db: Sqlite): Driver {
  const connection = createConnection(db);
  const run = (text: string) => async () => void db.exec(text);
  return {
    init: async () => undefined,
    acquireConnection: async () => connection,
    beginTransaction: run('BEGIN'),
    commitTransaction: run('COMMIT'),
    rollbackTransaction: run('ROLLBACK'),
    releaseConnection: async () => undefined,
    destroy: async () => undefined,
  };
}

type Cells = Record<string, Value>;

function createConnection(db: Sqlite): DatabaseConnection {
  const prepare = <R>(text: string) => db.prepare<unknown[], R & Cells>(text).safeIntegers();
  return {
    executeQuery: async <R>({ sql: asked, parameters }: CompiledQuery): Promise<QueryResult<R>> => ({
      rows: prepare<R>(asked)
        .all(...parameters)
        .map(narrow),
    }),
    async *streamQuery<R>(
      { sql: asked, parameters }: CompiledQuery,
      size = 1,
    ): AsyncGenerator<QueryResult<R>> {
      let rows: R[] = [];
      for (const row of prepare<R>(asked).iterate(...parameters)) {
        rows.push(narrow(row));
        if (rows.length < size) continue;
        yield { rows };
        rows = [];
      }
      yield { rows };
    },
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
