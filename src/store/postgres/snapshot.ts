import { sql } from 'kysely';
import { POSTGRES as SCHEMA } from '../../../migrations/schema.js';
import type { Value } from '../contract/tables.js';
import type { ReadRows } from '../copy-tables.js';
import { POSTGRES } from '../dialect.js';
import { prepared } from '../sql/prepared.js';
import { writeMirrorFile } from '../sqlite/snapshot.js';
import type { Postgres, RunQuery } from './open-postgres.js';

const FETCH_ROWS = 250;
/** The table whose rows are fetched one by one, because each contains a PDF. */
const FILE_TABLE = 'mirror.certificate_files';
/** Converts the column `cells` to text, as SQLite stores it. */
const CELLS = sql`${sql.raw(SCHEMA.shown('cells', []))} AS cells`;
const READ_ONLY = 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY';

/**
 * Writes a consistent copy of the mirror to a new SQLite file. The file records `now` as the time of its migrations. Returns false if the
 * file exists.
 */
export function snapshot({ transact }: Postgres, file: string, now: string): Promise<boolean> {
  return transact(async query => {
    await query(READ_ONLY);
    return await writeMirrorFile(file, now, createRowReader(query));
  });
}

/**
 * Creates a function that reads the rows of a table, with values of the types that SQLite stores. `query` must run in a
 * transaction, because the rows are read through a cursor.
 */
export function createRowReader(query: RunQuery): ReadRows {
  return async function* read({ name, columns }) {
    const list = sql.join(Object.keys(columns).map(column => (column === 'cells' ? CELLS : sql.id(column))));
    const { text } = prepared(() => sql`SELECT ${list} FROM ${sql.table(name)}`).compileFor(POSTGRES);
    const cursor = `read_${name.replace('.', '_')}`;
    const limit = name === FILE_TABLE ? 1 : FETCH_ROWS;
    await query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${text}`);
    for (;;) {
      const rows = await query<Record<string, Value>>(`FETCH ${limit} FROM ${cursor}`);
      if (rows.length > 0) yield rows;
      if (rows.length < limit) break;
    }
    await query(`CLOSE ${cursor}`);
  };
}
