import type { Sqlite } from '../engines/sqlite/open.js';
import { type Entry, nameOf } from '../resources/entry.js';
import { KNOWN_ORGANIZATION } from './lists.js';
import type { Value } from '../engines/contract/tables.js';

/** Every version of the rows with this id, oldest first; `valid_to` is null for what is still true. */
export function readHistory(db: Sqlite, entry: Entry, id: string): Record<string, Value>[] {
  const known = entry.scope === 'organization_id' ? `${KNOWN_ORGANIZATION} AND` : '';
  return db
    .prepare<[string], Record<string, Value>>(
      `SELECT * FROM ${entry.table}_history WHERE ${known} ${nameOf(entry)} = ? ORDER BY valid_from, version`,
    )
    .safeIntegers()
    .all(id);
}
