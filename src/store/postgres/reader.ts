import { PostgresQueryCompiler, type PrimitiveValueListNode } from 'kysely';
import { toReadableText } from '../../resources/sql-values.js';
import { POSTGRES_FUNCTIONS } from '../sql/functions.js';
import { AT_ONCE, compileQuery, type Query, type Reader, formatQuery } from '../contract/reader.js';
import { instantFor } from '../dialect.js';
import type { Postgres, Transaction } from './open-postgres.js';

/** Set at each BEGIN, because a pooler may give the next transaction another connection. */
const SNAPSHOT = 'ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Creates a reader on an open pool. Each query has its own snapshot. A query beside an open stream uses another connection. */
export function createReader({ begin }: Postgres): Reader {
  // Nothing was written, so a failed commit loses nothing.
  const end = (transaction: Transaction) => transaction.commit().catch(transaction.abandon);
  const inSnapshot: Reader['inSnapshot'] = async work => {
    const transaction = await begin(SNAPSHOT);
    try {
      return await work(readerIn(transaction));
    } finally {
      await end(transaction);
    }
  };
  return {
    all: asked => inSnapshot(reader => reader.all(asked)),
    stream: async function* stream(asked) {
      const transaction = await begin(SNAPSHOT);
      try {
        yield* readerIn(transaction).stream(asked);
      } finally {
        await end(transaction);
      }
    },
    inSnapshot,
    shown: statement => formatQuery(statement),
    asText: POSTGRES_FUNCTIONS.asText,
  };
}

function readerIn({ query }: Transaction): Reader {
  let cursors = 0;
  const reader: Reader = {
    all: async <Row>(asked: Query<Row>) => {
      const { sql, parameters } = compile(asked);
      return await query<Row & object>(sql, parameters);
    },
    stream: async function* stream<Row>(asked: Query<Row>) {
      const cursor = `streamed_${(cursors += 1)}`;
      const { sql, parameters } = compile(asked);
      await query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${sql}`, parameters);
      for (let isLast = false; !isLast; ) {
        const rows = await query<Row & object>(`FETCH ${AT_ONCE} FROM ${cursor}`);
        isLast = rows.length < AT_ONCE;
        yield* rows;
      }
    },
    inSnapshot: work => work(reader),
    shown: statement => formatQuery(statement),
    asText: POSTGRES_FUNCTIONS.asText,
  };
  return reader;
}

/**
 * A longer list of values is passed as one array. PostgreSQL finds the values of a short list in a view by its indexes, but reads
 * the whole view if it is compared with an array.
 */
const LISTED_VALUES = 200;

/** Binds all values. PostgreSQL plans each query with its values, so partial indexes are found. */
class PostgresReaderCompiler extends PostgresQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (!Array.isArray(value)) super.appendValue(typeof value === 'string' ? toStoredText(value) : value);
    // An empty list has no type, and nothing is equal to NULL.
    else if (value.length === 0) this.append('(NULL)');
    else this.appendList(value, typeof value[0] === 'number' ? 'bigint' : 'text');
  }

  private appendList(values: readonly unknown[], type: string): void {
    if (values.length > LISTED_VALUES) {
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

function compile(asked: Query<unknown>) {
  return compileQuery(new PostgresReaderCompiler(), asked);
}

const BEFORE_YEAR_1 = /^(0000|-\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Converts a text that is searched for to the form in which it is stored. */
function toStoredText(value: string): string | null {
  return BEFORE_YEAR_1.test(value) ? instantFor(value) : toReadableText(value);
}
