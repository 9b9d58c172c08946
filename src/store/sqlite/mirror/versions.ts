import type { Sqlite } from '../open.js';
import type { Value } from '../../../resources/columns.js';
import { columnsOf, type Entry, keyOf } from '../../../resources/entry.js';

interface StoredVersion {
  readonly version: number;
  readonly document: string;
  readonly valid_from: string;
}

/** How a version came to its end. */
export interface Closing {
  readonly at: string;
  readonly syncId: number;
  /** Of the version that takes its place, or one of its own where the row is gone. */
  readonly number: number;
}

/** The only place that writes a version of a row, or moves one to the past. */
export interface Versions {
  current(...key: string[]): StoredVersion | undefined;
  /** Since when a current version is so. */
  validFrom(version: number): string | null;
  /** When the last version of a row that is not there any more ended. */
  lastEnd(...key: string[]): string | null;
  /** Of a version, the values of its key and columns, since when it is so, the sync, and the document. */
  readonly insert: { run(...values: readonly Value[]): unknown };
  /** Gives a current version other columns than it has, and nothing where it has these. */
  mend(version: number, cells: readonly Value[]): void;
  /** Moves a row to the past; false where it was not there any more. */
  close(version: number, closing: Closing): boolean;
}

export function createVersions(db: Sqlite, entry: Entry): Versions {
  const { table } = entry;
  const names = columnsOf(entry);
  const its = keyOf(entry)
    .map(part => `${part} = ?`)
    .join(' AND ');
  const current = db.prepare<string[], StoredVersion>(
    `SELECT version, document, valid_from FROM ${table} WHERE ${its}`,
  );
  const since = db.prepare<[number], string>(`SELECT valid_from FROM ${table} WHERE version = ?`).pluck();
  const lastEnd = db
    .prepare<string[], string | null>(`SELECT max(valid_to) FROM ${table}_past WHERE ${its}`)
    .pluck();
  const insert = db.prepare<Value[]>(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  );
  const cells = entry.columns.map(({ name }) => name);
  const own = `(${cells.join(', ')})`;
  const other = `(${cells.map(() => '?').join(', ')})`;
  const mend = db.prepare<Value[]>(
    `UPDATE ${table} SET ${own} = ${other} WHERE version = ? AND ${own} IS NOT ${other}`,
  );
  const archive = createArchive(db, entry);
  const remove = db.prepare<[number]>(`DELETE FROM ${table} WHERE version = ?`);
  return {
    current: (...values) => current.get(...values),
    validFrom: version => since.get(version) ?? null,
    lastEnd: (...values) => lastEnd.get(...values) ?? null,
    insert,
    mend: (version, values) => void mend.run(...values, version, ...values),
    close: (version, closing) => {
      archive(version, closing);
      return remove.run(version).changes > 0;
    },
  };
}

/** Copies a version to the past as it stands. */
export function createArchive(db: Sqlite, entry: Entry): (version: number, closing: Closing) => void {
  const { table } = entry;
  const names = columnsOf(entry).join(', ');
  const archive = db.prepare<[string, number, number, number]>(
    `INSERT INTO ${table}_past (${names}, valid_to, closed_by, closed_version)
     SELECT ${names}, ?, ?, ? FROM ${table} WHERE version = ?`,
  );
  return (version, { at, syncId, number }) => void archive.run(at, syncId, number, version);
}
