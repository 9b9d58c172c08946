import { keyOf } from '../../../resources/entry.js';
import { LISTS } from '../../../resources/lists.js';
import { ENTRIES, findEntry } from '../../../resources/resources.js';

/** What must hold in any mirror at any moment, whatever the registry said. */
export interface Law {
  readonly law: string;
  /** Answers one column `found` for each row that breaks the law. `:now` is the present. */
  readonly sql: string;
}

/** The tables that have versions, and the key of each. */
export const KEYS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  ENTRIES.map(entry => [entry.table, keyOf(entry)]),
);

/** The table of each resource that is read as a list. */
export const LISTED: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(LISTS).map(([resource, { table }]) => [resource, table]),
);

/** The column that holds the organization of a row. */
export function scopeOf(table: string): string {
  return findEntry(table)?.scope ?? 'organization_id';
}

/** What stands in only one of two selections. */
export function differ(one: string, other: string, named: string): string {
  return `SELECT DISTINCT ${named} AS found FROM (
    SELECT * FROM (${one} EXCEPT ${other}) UNION ALL SELECT * FROM (${other} EXCEPT ${one}))`;
}
