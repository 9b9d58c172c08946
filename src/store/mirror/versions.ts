import { listTableColumns, type ResourceEntry, listKeyColumns } from '../../resources/entry.js';
import { TABLES } from '../contract/tables.js';
import type { Kinds, Rows, Table, Value } from '../dialect.js';
import { archive } from '../past.js';
import { insertion, statement } from '../statement.js';

/** How a version comes to its end. */
export interface VersionEnd {
  readonly version: number;
  readonly at: string;
  /** Of the version that takes its place, or one of its own where the row is gone. */
  readonly changeNumber: number;
  readonly isRemoved: boolean;
}

const CLOSINGS = { version: 'int', at: 'instant', number: 'int', is_removed: 'int' } as const;
const VERSIONS = { version: 'int' } as const;

/** The kinds of some columns of a table. */
export function kindsOf(table: string, names: readonly string[]): Kinds {
  const columns = TABLES[table] ?? {};
  return Object.fromEntries(names.map(name => [name, columns[name]?.[0] ?? 'text']));
}

/** The only place that writes a version of a row, or moves one to the past. */
export function createVersionStatements(entry: ResourceEntry) {
  const table = `mirror.${entry.table}`;
  const key = listKeyColumns(entry);
  const cells = entry.columns.map(({ name }) => name);
  const whole = kindsOf(entry.table, listTableColumns(entry));
  const keys = kindsOf(entry.table, key);
  const mended = { ...VERSIONS, ...kindsOf(entry.table, cells) };
  const given = (of: string) => cells.map(name => `${of}.${name}`).join(', ');

  const standing = statement<{ versions: Table }, { readonly version: number; readonly valid_from: string }>(
    ({ rows }) =>
      `SELECT version, valid_from FROM ${table} WHERE version IN (SELECT g.version FROM ${rows('@versions', 'g', VERSIONS)})`,
  );
  const ended = statement<{ keys: Table }, Readonly<Record<string, string>>>(
    ({ rows }) =>
      `SELECT ${key.map(name => `h.${name}`).join(', ')}, max(h.valid_to) AS valid_to
       FROM ${rows('@keys', 'g', keys)}
       JOIN ${table}_history AS h ON ${key.map(name => `h.${name} = g.${name}`).join(' AND ')}
       WHERE h.valid_to IS NOT NULL GROUP BY ${key.map(name => `h.${name}`).join(', ')}`,
  );
  const toPast = statement<{ closings: Table; syncId: number }>(dialect =>
    archive(
      dialect,
      entry,
      { at: 'g.at', by: dialect.as('int', '@syncId'), number: 'g.number', isRemoved: 'g.is_removed' },
      `FROM ${dialect.rows('@closings', 'g', CLOSINGS)} JOIN ${table} AS v ON v.version = g.version`,
    ),
  );
  const remove = statement<{ versions: Table }>(
    ({ rows }) =>
      `DELETE FROM ${table} WHERE version IN (SELECT g.version FROM ${rows('@versions', 'g', VERSIONS)})`,
  );
  const mend = statement<{ mends: Table }>(
    ({ rows }) =>
      `UPDATE ${table} AS t SET ${cells.map(name => `${name} = m.${name}`).join(', ')}
       FROM ${rows('@mends', 'm', mended)}
       WHERE t.version = m.version AND (${given('t')}) IS DISTINCT FROM (${given('m')})`,
  );
  const insert = insertion(table, whole);

  function archiveAll(closings: readonly VersionEnd[], syncId: number) {
    const rows = closings.map(({ version, at, changeNumber: number, isRemoved }) => [
      version,
      at,
      number,
      Number(isRemoved),
    ]);
    return toPast({ closings: { columns: CLOSINGS, rows }, syncId });
  }

  return {
    /** Since when these stand, those of them that stand. */
    selectCurrent: (versions: readonly number[]) => standing({ versions: toVersionTable(versions) }),
    /** When the last versions of rows ended that are not there any more. */
    selectLastEnds: (rows: Rows) => ended({ keys: { columns: keys, rows } }),
    /** The key of a row of that answer. */
    keyOf: (row: Readonly<Record<string, string>>) => key.map(name => row[name] ?? ''),
    /** Copies these to the past as they stand. */
    copyToPast: archiveAll,
    deleteCurrent: (versions: readonly number[]) => remove({ versions: toVersionTable(versions) }),
    /** Moves these to the past. */
    moveToPast: (closings: readonly VersionEnd[], syncId: number) =>
      closings.length === 0
        ? []
        : [
            archiveAll(closings, syncId),
            remove({ versions: toVersionTable(closings.map(({ version }) => version)) }),
          ],
    /** Gives current versions other columns than they have, and nothing where they have these. */
    repair: (mends: readonly { readonly version: number; readonly cells: readonly Value[] }[]) => {
      const rows = mends.map(({ version, cells: own }) => [version, ...own]);
      return mend({ mends: { columns: mended, rows } });
    },
    /** Of each the version, the values of its key and columns, since when it is so, the sync, and the document. */
    insert,
  };
}

export function toVersionTable(versions: readonly number[]): Table {
  return { columns: VERSIONS, rows: versions.map(version => [version]) };
}
