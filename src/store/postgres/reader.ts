import { PostgresQueryCompiler, type PrimitiveValueListNode } from 'kysely';
import { toReadableText } from '../../resources/sql-values.js';
import { AT_ONCE, compileQuery, type Query, type Reader, formatQuery } from '../contract/reader.js';
import { instantFor } from '../dialect.js';
import type { Postgres, Transaction } from './open-postgres.js';

/** A moment that readers see, and in which nothing can be written. No setting of a session would outlive a pooler. */
const SNAPSHOT = 'ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Readers on a pool that is somebody else's: each question has a snapshot, and one that waits while another streams takes a connection more. */
export function readerOf({ begin }: Postgres): Reader {
  // A transaction that has only read ends well in any way.
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
  };
  return reader;
}

/**
 * A list of more values is passed as one array. PostgreSQL searches a view for the values of a short list by its indexes, but reads all rows
 * of a view that is compared with an array.
 */
const LISTED_VALUES = 200;

/** All values are bound: what a statement is planned for is known by then, so that indexes of one state are found. */
class ServerCompiler extends PostgresQueryCompiler {
  protected override appendValue(value: unknown): void {
    if (!Array.isArray(value)) super.appendValue(typeof value === 'string' ? asKept(value) : value);
    // Nothing is in it, of whatever type.
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
  return compileQuery(new ServerCompiler(), asked);
}

const BEFORE_YEAR_1 = /^(0000|-\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A text that is asked for, as a row would hold it. */
function asKept(value: string): string | null {
  return BEFORE_YEAR_1.test(value) ? instantFor(value) : toReadableText(value);
}
