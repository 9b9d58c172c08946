import { type PrimitiveValueListNode, type SchemableIdentifierNode, SqliteQueryCompiler } from 'kysely';
import { toReadableText } from '../../resources/sql-values.js';
import { SQLITE_FUNCTIONS } from '../sql/functions.js';
import { compileQuery, type OpenReader, type Query, type Reader, formatQuery } from '../contract/reader.js';
import { type DatabaseFiles, openReadOnly } from './open-read-only.js';
import type { Sqlite } from './open-database.js';
import { toSafeNumbers } from './safe-integers.js';

/** Opens a reader of the mirror and the inbox. */
export function openReader(files: DatabaseFiles): OpenReader {
  const db = openReadOnly(files);
  return { ...createReader(db), close: async () => void db.close() };
}

/** The number of prepared statements that a reader keeps. */
const MOST_PREPARED = 100;

/** Creates a reader on an open connection. The caller closes the connection. */
export function createReader(db: Sqlite): Reader {
  // A query states the type of its rows, which the driver does not know: `never` fits every type.
  const prepare = (text: string) => db.prepare<unknown[], never>(text).safeIntegers();
  const known = new Map<string, ReturnType<typeof prepare>>();

  /**
   * Returns the prepared statement for an SQL text. Keeps the ones that were used last, because preparing a query of a large view takes
   * longer than running it.
   */
  function getPrepared(text: string): ReturnType<typeof prepare> {
    const prepared = known.get(text) ?? prepare(text);
    known.delete(text);
    known.set(text, prepared);
    const [oldest] = known.keys();
    if (oldest !== undefined && known.size > MOST_PREPARED) known.delete(oldest);
    return prepared;
  }

  const reader: Omit<Reader, 'inSnapshot'> = {
    all: async <Row>(query: Query<Row>) => {
      const { text, values } = compile(query);
      return getPrepared(text)
        .all(...values)
        .map(toSafeNumbers);
    },
    stream: async function* stream<Row>(query: Query<Row>) {
      const { text, values } = compile(query);
      // A statement that is being iterated cannot run again meanwhile, so it is not kept.
      for (const row of prepare(text).iterate(...values)) yield toSafeNumbers(row);
    },
    formatQuery: query => formatQuery(query, 'without schemas'),
    asText: SQLITE_FUNCTIONS.asText,
  };
  const inside: Reader = { ...reader, inSnapshot: async work => await work(inside) };
  return {
    ...reader,
    inSnapshot: async work => {
      db.exec('BEGIN');
      try {
        return await work(inside);
      } finally {
        db.exec('COMMIT');
      }
    },
  };
}

const WORD = /^[a-z_]+$/;

/** Binds all values except single words, such as states: SQLite uses a partial index only if the word is in the SQL text. */
class SqliteReaderCompiler extends SqliteQueryCompiler {
  /**
   * Appends a value to the SQL text and binds it; a list becomes one JSON array. Only a single lower-case word, such as a state,
   * is written as a literal.
   */
  protected override appendValue(value: unknown): void {
    if (Array.isArray(value)) {
      this.append('(SELECT value FROM json_each(');
      super.appendValue(JSON.stringify(value));
      this.append('))');
    } else if (typeof value !== 'string') super.appendValue(value);
    else if (WORD.test(value)) this.appendStringLiteral(value);
    else super.appendValue(toReadableText(value));
  }

  protected override visitPrimitiveValueList({ values }: PrimitiveValueListNode): void {
    this.appendValue(values);
  }

  /**
   * Omits the schema name of tables of mirror.db, which is the main database. Keeps `inbox`, the name under which inbox.db is
   * attached.
   */
  protected override visitSchemableIdentifier(node: SchemableIdentifierNode): void {
    if (node.schema?.name === 'inbox') super.visitSchemableIdentifier(node);
    else this.visitNode(node.identifier);
  }
}

/** Compiles a query of a reader to SQL text for SQLite and the values to bind. */
export function compile(query: Query<unknown>) {
  const { sql, parameters } = compileQuery(new SqliteReaderCompiler(), query);
  return { text: sql, values: parameters };
}
