import type { Sqlite } from '../engines/sqlite/open.js';
import { KNOWN_ORGANIZATION } from './lists.js';
import type { Value } from '../engines/contract/tables.js';

/** The tables whose rows have a history, and the column by which a person names a row. */
export const VERSIONED = {
  installations: 'id',
  organizations: 'id',
  projects: 'id',
  warehouse_credits: 'credit_id',
  inventory_credits: 'credit_id',
  reservations: 'id',
  inventory_requests: 'id',
  retirements: 'id',
  members: 'id',
  addresses: 'id',
  certificates: 'retirement_id',
} as const;
export type VersionedTable = keyof typeof VERSIONED;

const BELONG_TO_NOBODY: readonly VersionedTable[] = ['installations', 'organizations', 'projects'];

export function isVersioned(name: string): name is VersionedTable {
  return Object.hasOwn(VERSIONED, name);
}

/** Every version of the rows with this id, oldest first; `valid_to` is null for what is still true. */
export function readHistory(db: Sqlite, table: VersionedTable, id: string): Record<string, Value>[] {
  const known = BELONG_TO_NOBODY.includes(table) ? '' : `${KNOWN_ORGANIZATION} AND`;
  return db
    .prepare<[string], Record<string, Value>>(
      `SELECT * FROM ${table}_history WHERE ${known} ${VERSIONED[table]} = ? ORDER BY valid_from, version`,
    )
    .safeIntegers()
    .all(id);
}
