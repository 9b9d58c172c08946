import { type RawBuilder, sql } from 'kysely';
import { listTableColumns, type ResourceEntry, listKeyColumns } from '../../resources/entry.js';
import { historyView, TABLES, versionedTable } from '../contract/tables.js';
import type { Value } from '../contract/tables.js';
import type { Kinds, Rows, Table } from '../dialect.js';
import { buildInsertIntoPast } from '../copy-to-past.js';
import { jsonRelation, listColumns, tableRef, select, sqlStatement } from '../sql/columns.js';
import type { SqlFunctions } from '../sql/functions.js';
import { createInsertBuilder, type Params, prepared } from '../sql/prepared.js';

/** The end of a version: when the row was replaced or removed. */
export interface VersionEnd {
  readonly version: number;
  readonly at: string;
  /** The number of the change: that of the version that replaces this one, or a new number if the row was removed. */
  readonly changeNumber: number;
  readonly isRemoved: boolean;
}

export type VersionParams = { readonly versions: Table };

const VERSION = { version: 'int' } as const;
const END = { version: 'int', at: 'instant', change_number: 'int', is_removed: 'int' } as const;
const versionList = jsonRelation('given', VERSION);
const endList = jsonRelation('ending', END);

/** Returns the kind of each named column of a table, such as `int` or `instant`. Unknown columns are `text`. */
export function getColumnKinds(table: string, names: readonly string[]): Kinds {
  const columns = TABLES[table] ?? {};
  return Object.fromEntries(names.map(name => [name, columns[name]?.[0] ?? 'text']));
}

/** Returns a function that calls `create` at the first use of a key, and later returns the cached value. */
export function cachePerKey<Key, T>(create: (key: Key) => T): (key: Key) => T {
  const cache = new Map<Key, T>();
  return key => {
    const value = cache.get(key) ?? create(key);
    cache.set(key, value);
    return value;
  };
}

/** Returns the statements that insert, repair and archive versions of one table's rows. No other code does. */
export const getVersionStatements = cachePerKey(createVersionStatements);

/** Prepares the statements that select, insert, repair and archive versions of one table's rows. */
function createVersionStatements(entry: ResourceEntry) {
  const table = versionedTable(entry);
  const own = tableRef(table);
  const current = tableRef(table, 'v');
  const history = tableRef(historyView(entry), 'history');
  const keyNames = listKeyColumns(entry);
  const cellNames = entry.columns.map(({ name }) => name);
  const keyKinds = getColumnKinds(entry.table, keyNames);
  const repairKinds = { ...VERSION, ...getColumnKinds(entry.table, cellNames) };
  const keyList = jsonRelation('given', keyKinds);
  const repairList = jsonRelation('repair', repairKinds);

  const isListed = (fn: SqlFunctions, { versions }: Params<VersionParams>) =>
    sql`${own.version} IN (SELECT ${versionList.columns.version} FROM ${versionList.from(fn, versions)})`;
  const SELECT_CURRENT = prepared(
    ({ fn }, params: Params<VersionParams>) =>
      sqlStatement`SELECT ${select({ version: own.version, valid_from: own.valid_from })} FROM ${own()} WHERE ${isListed(fn, params)}`,
  );
  const SELECT_LAST_ENDS = prepared(({ fn }, { keys }: Params<{ readonly keys: Table }>) => {
    const cells: Readonly<Record<string, RawBuilder<string>>> = {
      ...Object.fromEntries(keyNames.map(name => [name, sql.ref<string>(`history.${name}`)])),
      valid_to: sql<string>`max(${history.valid_to})`,
    };
    const isSameKey = keyNames.map(name => sql`${sql.ref(`history.${name}`)} = ${sql.ref(`given.${name}`)}`);
    return sqlStatement`SELECT ${select(cells)}
      FROM ${keyList.from(fn, keys)} JOIN ${history()} ON ${sql.join(isSameKey, sql` AND `)}
      WHERE ${history.valid_to} IS NOT NULL GROUP BY ${listColumns('history', keyNames)}`;
  });
  const COPY_TO_PAST = prepared(
    ({ fn }, { ends, syncId }: Params<{ readonly ends: Table; readonly syncId: number }>) => {
      const { version, at, change_number, is_removed } = endList.columns;
      return buildInsertIntoPast(
        fn,
        entry,
        {
          validTo: at,
          closedBy: fn.cast('int', syncId),
          closedVersion: change_number,
          isRemoved: is_removed,
        },
        sql`FROM ${endList.from(fn, ends)} JOIN ${current()} ON ${current.version} = ${version}`,
      );
    },
  );
  const DELETE_CURRENT = prepared(
    ({ fn }, params: Params<VersionParams>) =>
      sqlStatement`DELETE FROM ${own()} WHERE ${isListed(fn, params)}`,
  );
  const REPAIR = prepared(({ fn }, { repairs }: Params<{ readonly repairs: Table }>) => {
    const cells = cellNames.map(name => sql`${sql.id(name)} = ${sql.ref(`repair.${name}`)}`);
    return sqlStatement`UPDATE ${current()} SET ${sql.join(cells)} FROM ${repairList.from(fn, repairs)}
      WHERE ${current.version} = ${repairList.columns.version}
        AND (${listColumns('v', cellNames)}) IS DISTINCT FROM (${listColumns('repair', cellNames)})`;
  });
  const insert = createInsertBuilder(table, getColumnKinds(entry.table, listTableColumns(entry)));

  const deleteCurrent = (versions: readonly number[]) =>
    DELETE_CURRENT({ versions: toVersionTable(versions) });

  /** Builds the statement that copies current row versions to the table of past versions. `ends` says when each version ended. */
  function buildCopyToPast(ends: readonly VersionEnd[], syncId: number) {
    const rows = ends.map(({ version, at, changeNumber, isRemoved }) => [
      version,
      at,
      changeNumber,
      Number(isRemoved),
    ]);
    return COPY_TO_PAST({ ends: { columns: END, rows }, syncId });
  }

  return {
    /** Selects the listed versions that are still current. */
    selectCurrent: (versions: readonly number[]) => SELECT_CURRENT({ versions: toVersionTable(versions) }),
    /** Selects when the last past version of each key ended. */
    selectLastEnds: (keys: Rows) => SELECT_LAST_ENDS({ keys: { columns: keyKinds, rows: keys } }),
    /** Returns the key of a row of `selectLastEnds`. */
    keyOf: (row: Readonly<Record<string, string>>) => keyNames.map(name => row[name] ?? ''),
    /** Copies current versions to the table of past versions. */
    copyToPast: buildCopyToPast,
    deleteCurrent,
    /** Copies current versions to the table of past versions and deletes them. */
    moveToPast: (ends: readonly VersionEnd[], syncId: number) =>
      ends.length === 0
        ? []
        : [buildCopyToPast(ends, syncId), deleteCurrent(ends.map(({ version }) => version))],
    /** Corrects column values of current versions without creating new versions. */
    repair: (repairs: readonly { readonly version: number; readonly cells: readonly Value[] }[]) => {
      const rows = repairs.map(({ version, cells }) => [version, ...cells]);
      return REPAIR({ repairs: { columns: repairKinds, rows } });
    },
    /** Inserts current versions. A row holds the version, key, columns, valid_from, sync and document. */
    insert,
  };
}

/** Converts version numbers to the rows that a statement takes. */
export function toVersionTable(versions: readonly number[]): Table {
  return { columns: VERSION, rows: versions.map(version => [version]) };
}
