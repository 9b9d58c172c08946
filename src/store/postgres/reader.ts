import { PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler, sql } from 'kysely';
import { text } from '../../resources/columns.js';
import type { Expressions, Reader } from '../contract/reader.js';
import { instantFor } from '../dialect.js';
import { type Asking, createReaderDb, type Readable } from '../reader.js';
import type { Postgres, Transaction } from './open.js';

/** A moment that readers see, and in which nothing can be written. No setting of a session would outlive a pooler. */
const SNAPSHOT = 'ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Readers on a pool that is somebody else's. Each question that waits while another streams takes a connection more, and sees one moment. */
export function readerOf({ begin }: Postgres): Reader {
  const readable: Readable = {
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: kysely => new PostgresIntrospector(kysely),
    createQueryCompiler: () => new Compiler(),
    take: async () => createAsking(await begin(SNAPSHOT)),
    run: () => undefined,
  };
  return { db: createReaderDb(readable).withSchema('mirror'), say };
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

function createAsking({ query, commit, abandon }: Transaction): Asking {
  let cursors = 0;
  return {
    ask: query,
    async *stream<R extends object>(asked: string, given: readonly unknown[], size: number) {
      const cursor = `streamed_${(cursors += 1)}`;
      await query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${asked}`, given);
      for (let isLast = false; !isLast; ) {
        const rows = await query<R>(`FETCH ${size} FROM ${cursor}`);
        isLast = rows.length < size;
        yield rows;
      }
    },
    /** A transaction that has only read ends well in any way. */
    end: () => commit().catch(abandon),
  };
}
