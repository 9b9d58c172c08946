import { PostgresQueryCompiler, type PrimitiveValueListNode } from 'kysely';
import { toReadableText } from '../../resources/sql-values.js';
import { POSTGRES_FUNCTIONS } from '../sql/functions.js';
import { STREAM_CHUNK_ROWS, compileQuery, type Query, type Reader, formatQuery } from '../contract/reader.js';
import { toPostgresInstant } from '../dialect.js';
import type { Postgres, Transaction } from './open-postgres.js';

/** The modes of each transaction. They are part of BEGIN, because a pooler may forget settings between transactions. */
const SNAPSHOT = 'ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Creates a reader on a pool. Each query and each stream has its own snapshot and connection. */
export function createReader({ begin }: Postgres): Reader {
  // A reader writes nothing, so a failed commit loses nothing.
  const endTransaction = (transaction: Transaction) => transaction.commit().catch(transaction.abandon);
  const inSnapshot: Reader['inSnapshot'] = async work => {
    const transaction = await begin(SNAPSHOT);
    try {
      return await work(createTransactionReader(transaction));
    } finally {
      await endTransaction(transaction);
    }
  };
  return {
    all: query => inSnapshot(reader => reader.all(query)),
    stream: async function* stream(query) {
      const transaction = await begin(SNAPSHOT);
      try {
        yield* createTransactionReader(transaction).stream(query);
      } finally {
        await endTransaction(transaction);
      }
    },
    inSnapshot,
    formatQuery: statement => formatQuery(statement),
    asText: POSTGRES_FUNCTIONS.asText,
  };
}

/** Creates a reader whose queries all run in one open transaction, which the caller ends. */
function createTransactionReader({ query: run }: Transaction): Reader {
  let cursors = 0;
  const reader: Reader = {
    all: async <Row>(query: Query<Row>) => {
      const { sql, parameters } = compile(query);
      return await run<Row & object>(sql, parameters);
    },
    stream: async function* stream<Row>(query: Query<Row>) {
      const cursor = `streamed_${(cursors += 1)}`;
      const { sql, parameters } = compile(query);
      await run(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`, parameters);
      for (let isLast = false; !isLast; ) {
        const rows = await run<Row & object>(`FETCH ${STREAM_CHUNK_ROWS} FROM ${cursor}`);
        isLast = rows.length < STREAM_CHUNK_ROWS;
        yield* rows;
      }
    },
    inSnapshot: work => work(reader),
    formatQuery: statement => formatQuery(statement),
    asText: POSTGRES_FUNCTIONS.asText,
  };
  return reader;
}

/**
 * The longest list whose values are bound one by one. Longer lists are bound as one array. Given an array, PostgreSQL reads the
 * whole of a view; given single values, it uses the indexes.
 */
const MAX_LISTED_VALUES = 200;

/** Compiles queries with all values bound. PostgreSQL plans each query with its values, so it can use partial indexes. */
class PostgresReaderCompiler extends PostgresQueryCompiler {
  /** Appends a value to the SQL text and binds it. Appends a list with the parentheses that follow IN. */
  protected override appendValue(value: unknown): void {
    if (!Array.isArray(value)) super.appendValue(typeof value === 'string' ? toStoredText(value) : value);
    // An empty list has no type, and nothing is equal to NULL.
    else if (value.length === 0) this.append('(NULL)');
    else this.appendValueList(value, typeof value[0] === 'number' ? 'bigint' : 'text');
  }

  /**
   * Appends the list after IN, with its values cast to the SQL type `type`. Binds the values of a short list one by one, and a
   * long list as one array.
   */
  private appendValueList(values: readonly unknown[], type: string): void {
    if (values.length > MAX_LISTED_VALUES) {
      this.append('(SELECT unnest(');
      super.appendValue(values);
      this.append(`::${type}[]))`);
      return;
    }
    values.forEach((value, index) => {
      this.append(index === 0 ? '(' : ', ');
      this.appendValue(value);
      this.append(`::${type}`);
    });
    this.append(')');
  }

  protected override visitPrimitiveValueList({ values }: PrimitiveValueListNode): void {
    this.appendValue(values);
  }
}

/** Compiles a query to SQL text and the values to bind. */
function compile(query: Query<unknown>) {
  return compileQuery(new PostgresReaderCompiler(), query);
}

const BEFORE_YEAR_1 = /^(0000|-\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Converts a search text to its stored form. */
function toStoredText(value: string): string | null {
  return BEFORE_YEAR_1.test(value) ? toPostgresInstant(value) : toReadableText(value);
}
