import { POSTGRES } from '../../../migrations/schema.js';
import type { Value } from '../contract/tables.js';
import { writeFilled } from '../sqlite/fill.js';
import type { Postgres, Query } from './open.js';

const ROWS_AT_ONCE = 250;
/** SQLite keeps them as text. */
const CELLS = POSTGRES.shown('cells', []);
const READ_ONLY = 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** Writes the mirror as it is at one moment to a new SQLite file; false where that is there already. */
export function snapshot({ transact }: Postgres, file: string, at: string): Promise<boolean> {
  return transact(async query => {
    await query(READ_ONLY);
    return await writeFilled(file, at, ({ name, columns }) => readRows(query, name, Object.keys(columns)));
  });
}

/** As SQLite has them. */
export async function* readRows(
  query: Query,
  name: string,
  columns: readonly string[],
): AsyncGenerator<readonly Readonly<Record<string, Value>>[]> {
  const read = columns.map(column => (column === 'cells' ? `${CELLS} AS cells` : column));
  const asked = `SELECT ${read.join(', ')} FROM ${name}`;
  const cursor = `read_${name.replace('.', '_')}`;
  await query(`DECLARE ${cursor} NO SCROLL CURSOR FOR ${asked}`);
  for (;;) {
    const rows = await query<Record<string, Value>>(`FETCH ${ROWS_AT_ONCE} FROM ${cursor}`);
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_AT_ONCE) break;
  }
  await query(`CLOSE ${cursor}`);
}
