import { POSTGRES } from '../../../migrations/schema.js';
import type { Value } from '../contract/tables.js';
import { type Table, writeFilled } from '../sqlite/fill.js';
import type { Postgres, Query } from './open.js';

const ROWS_AT_ONCE = 250;
/** SQLite keeps them as text. */
const CELLS = POSTGRES.shown('cells', []);
const READ_ONLY = 'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY';

/** What stands in the file for what is asked of the inbox here: nobody who has the file has that. */
const ASKED: Readonly<Record<string, string>> = {
  freshness_facts: `SELECT organization_id, resource, oldest_unread_at FROM mirror.freshness
    WHERE oldest_unread_at IS NOT NULL AND resource <> 'certificates'`,
  origin: `SELECT only_row, base_url, app_id, schedule_seconds, created_at,
    (SELECT max(seen_at) FROM inbox.processes WHERE role = 'work') AS worker_seen_at, listed_at FROM mirror.origin`,
};

/** Writes the mirror as it is at one moment to a new SQLite file; false where that is there already. */
export function snapshot({ transact }: Postgres, file: string, at: string): Promise<boolean> {
  return transact(async query => {
    await query(READ_ONLY);
    return await writeFilled(file, at, table => readRows(query, table));
  });
}

async function* readRows(
  query: Query,
  { name, columns }: Table,
): AsyncGenerator<readonly Readonly<Record<string, Value>>[]> {
  const read = columns.map(column => (column === 'cells' ? `${CELLS} AS cells` : column));
  const asked = ASKED[name] ?? `SELECT ${read.join(', ')} FROM mirror.${name}`;
  await query(`DECLARE read_${name} NO SCROLL CURSOR FOR ${asked}`);
  for (;;) {
    const rows = await query<Record<string, Value>>(`FETCH ${ROWS_AT_ONCE} FROM read_${name}`);
    if (rows.length > 0) yield rows;
    if (rows.length < ROWS_AT_ONCE) break;
  }
  await query(`CLOSE read_${name}`);
}
