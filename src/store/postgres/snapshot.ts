import { POSTGRES } from '../../../migrations/schema.js';
import type { Value } from '../contract/tables.js';
import type { Read } from '../copy-tables.js';
import { writeFilled } from '../sqlite/copy.js';
import type { Postgres, Query } from './open.js';

const ROWS_AT_ONCE = 250;
/** Each may be large. */
const FILES = 'mirror.certificate_files';
/** SQLite keeps them as text. */
const CELLS = POSTGRES.shown('cells', []);
const READ_ONLY = 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Writes the mirror as it is at one moment to a new SQLite file; false where that is there already. */
export function snapshot({ transact }: Postgres, file: string, at: string): Promise<boolean> {
  return transact(async query => {
    await query(READ_ONLY);
    return await writeFilled(file, at, readerIn(query));
  });
}

/** Reads a schema out for another engine, within a transaction. */
export function readerIn(query: Query): Read {
  return async function* read({ name, columns }) {
    const cells = Object.keys(columns).map(column => (column === 'cells' ? `${CELLS} AS cells` : column));
    const cursor = `read_${name.replace('.', '_')}`;
    const atOnce = name === FILES ? 1 : ROWS_AT_ONCE;
    await query(`DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT ${cells.join(', ')} FROM ${name}`);
    for (;;) {
      const rows = await query<Record<string, Value>>(`FETCH ${atOnce} FROM ${cursor}`);
      if (rows.length > 0) yield rows;
      if (rows.length < atOnce) break;
    }
    await query(`CLOSE ${cursor}`);
  };
}
