import { cellsOf, type Dialect } from '../../migrations/schema.js';
import { type ResourceEntry, listKeyColumns, getIdColumn, findOwnerColumn } from '../resources/entry.js';
import { findResourceOfTable } from '../resources/resources.js';
import { TABLES } from './contract/tables.js';

/** How versions come to their end, each in the words of SQL. */
export interface Ends {
  readonly at: string;
  readonly by: string;
  /** Of the version that takes its place, or one of its own where the row is gone. */
  readonly number: string;
  readonly isRemoved: string;
}

/** Takes versions into the past as they stand; `from` tells which, by the name of `v`. */
export function archive(dialect: Dialect, entry: ResourceEntry, ends: Ends, from: string): string {
  const [owner, cells] = [
    findOwnerColumn(entry),
    cellsOf({ columns: columnsIn(entry), key: listKeyColumns(entry) }),
  ];
  const orNone = (column: string | null) => (column === null ? dialect.as('text', 'NULL') : `v.${column}`);
  return `INSERT INTO ${dialect.mirror}past (closed_version, valid_to, closed_by, is_removed, version, resource,
      organization_id, key, valid_from, sync_id, cells, document)
    SELECT ${ends.number}, ${ends.at}, ${ends.by}, ${ends.isRemoved}, v.version, '${findResourceOfTable(entry)}',
      ${orNone(owner)}, v.${getIdColumn(entry)}, v.valid_from, v.sync_id, ${dialect.cells('v', cells)}, ${orNone(entry.hasDocument ? 'document' : null)}
    ${from}`;
}

function columnsIn(entry: ResourceEntry) {
  const own = [...listKeyColumns(entry), ...entry.columns.map(({ name }) => name)];
  return Object.fromEntries(Object.entries(TABLES[entry.table] ?? {}).filter(([name]) => own.includes(name)));
}
