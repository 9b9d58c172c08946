import { type Expression, type RawBuilder, sql } from 'kysely';
import { cellsOf } from '../../migrations/schema.js';
import { type ResourceEntry, listKeyColumns, getIdColumn, findOwnerColumn } from '../resources/entry.js';
import { findResourceOfTable } from '../resources/resources.js';
import { TABLES, versionedTable } from './contract/tables.js';
import { insertFrom, tableRef } from './sql/columns.js';
import type { SqlFunctions } from './sql/functions.js';

/** The columns that say how a version ended, as SQL expressions. */
export interface VersionEndColumns {
  readonly validTo: Expression<string>;
  readonly closedBy: Expression<number>;
  /** The number of the change: the version that replaces the row, or a number of its own if the row was removed. */
  readonly closedVersion: Expression<number>;
  readonly isRemoved: Expression<number>;
}

/**
 * Builds an INSERT statement that copies current row versions to `mirror.past`, the table of past row versions. `source` is the FROM clause
 * of the statement. In `source`, the table of current row versions must have the alias `v`.
 */
export function buildInsertIntoPast(
  fn: SqlFunctions,
  entry: ResourceEntry,
  { validTo, closedBy, closedVersion, isRemoved }: VersionEndColumns,
  source: RawBuilder<unknown>,
): RawBuilder<never> {
  const { version, valid_from, sync_id } = tableRef(versionedTable(entry), 'v');
  const cells = cellsOf({ columns: listCellDefinitions(entry), key: listKeyColumns(entry) });
  const owner = findOwnerColumn(entry);
  const columnOrNull = (name: string | null) =>
    name === null ? fn.cast('text', sql<string | null>`NULL`) : sql.ref<string | null>(`v.${name}`);
  return insertFrom(
    'mirror.past',
    {
      closed_version: closedVersion,
      valid_to: validTo,
      closed_by: closedBy,
      is_removed: isRemoved,
      version,
      resource: sql.lit(findResourceOfTable(entry)),
      organization_id: columnOrNull(owner),
      key: sql.ref<string>(`v.${getIdColumn(entry)}`),
      valid_from,
      // A certificate without a file has no sync. Only stored certificates are copied.
      sync_id: sql<number>`${sync_id}`,
      cells: fn.cells('v', cells),
      document: columnOrNull(entry.hasDocument ? 'document' : null),
    },
    source,
  );
}

/** Returns the definition of each key column and content column of a resource, by column name. */
function listCellDefinitions(entry: ResourceEntry) {
  const names = [...listKeyColumns(entry), ...entry.columns.map(({ name }) => name)];
  return Object.fromEntries(
    Object.entries(TABLES[entry.table] ?? {}).filter(([name]) => names.includes(name)),
  );
}
