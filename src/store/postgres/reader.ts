import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
  sql,
} from 'kysely';
import { text } from '../../resources/columns.js';
import type { Expressions, Reader } from '../contract/reader.js';
import type { Tables } from '../contract/tables.js';
import { instantFor } from '../dialect.js';
import type { Postgres, Transaction } from './open.js';

/** Readers on a pool that is somebody else's. Each question that waits while another streams takes a connection more. */
export function readerOf(postgres: Postgres): Reader {
  const dialect = {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => createDriver(postgres),
    createIntrospector: (kysely: Kysely<unknown>) => new PostgresIntrospector(kysely),
    createQueryCompiler: () => new Compiler(),
  };
  const db = new Kysely<Tables>({ dialect }).withSchema('mirror');
  return { db, say };
}

/** All values are bound: what a statement is planned for is known by then, so that indexes of one state are found. */
class Compiler extends PostgresQueryCompiler {
  protected override appendValue(value: unknown): void {
    super.appendValue(typeof value === 'string' ? asKept(value) : value);
  }
}

const say: Expressions = {
  each: values => sql`(SELECT unnest(${values}::bigint[]))`,
  texts: values => sql`(SELECT unnest(${values}::text[]))`,
};

const BEFORE_YEAR_1 = /^(0000|-\d{6})-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A text that is asked for, as a row would hold it. */
function asKept(value: string): string | null {
  return BEFORE_YEAR_1.test(value) ? instantFor(value) : text(value);
}

/** A moment that readers see, and in which nothing can be written. No setting of a session would outlive a pooler. */
const SNAPSHOT = 'ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Whoever has a connection has a snapshot, until it is given back. */
function createDriver({ begin }: Postgres): Driver {
  const held = new WeakMap<DatabaseConnection, Transaction>();
  const nothing = async () => undefined;
  return {
    init: nothing,
    acquireConnection: async () => {
      const transaction = await begin(SNAPSHOT);
      const connection = createConnection(transaction);
      held.set(connection, transaction);
      return connection;
    },
    beginTransaction: nothing,
    commitTransaction: nothing,
    rollbackTransaction: nothing,
    releaseConnection: async connection => {
      const transaction = held.get(connection);
      // A transaction that has only read ends well in any way.
      await transaction?.commit().catch(transaction.abandon);
    },
    destroy: nothing,
  };
}

function createConnection({ query }: Transaction): DatabaseConnection {
  let cursors = 0;
  return {
    executeQuery: async <R>({ sql: asked, parameters }: CompiledQuery): Promise<QueryResult<R>> => ({
      rows: await query<R & object>(asked, parameters),
    }),
    async *streamQuery<R>(
      { sql: asked, parameters }: CompiledQuery,
      size = 1,
    ): AsyncGenerator<QueryResult<R>> {
      const cursor = `streamed_${(cursors += 1)}`;
      await query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${asked}`, parameters);
      for (let isLast = false; !isLast; ) {
        const rows = await query<R & object>(`FETCH ${size} FROM ${cursor}`);
        isLast = rows.length < size;
        yield { rows };
      }
    },
  };
}
