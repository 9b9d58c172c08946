import { SQLITE } from '../../../../migrations/schema.js';
import { archive } from '../../past.js';
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
  /** Where nothing takes its place. */
  readonly isRemoved: boolean;
}

/** The only place that writes a version of a row, or moves one to the past. */
export function createVersions(db: Sqlite, entry: Entry) {
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
    .prepare<string[], string | null>(`SELECT max(valid_to) FROM ${table}_history WHERE ${its}`)
    .pluck();
  const insert: { run(...values: readonly Value[]): unknown } = db.prepare<Value[]>(
    `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
  );
  const cells = entry.columns.map(({ name }) => name);
  const own = `(${cells.join(', ')})`;
  const other = `(${cells.map(() => '?').join(', ')})`;
  const mend = db.prepare<Value[]>(
    `UPDATE ${table} SET ${own} = ${other} WHERE version = ? AND ${own} IS NOT ${other}`,
  );
  const toPast = createArchive(db, entry);
  const remove = db.prepare<[number]>(`DELETE FROM ${table} WHERE version = ?`);
  return {
    current: (...key: string[]) => current.get(...key),
    /** Since when a current version is so. */
    validFrom: (version: number) => since.get(version) ?? null,
    /** When the last version of a row that is not there any more ended. */
    lastEnd: (...key: string[]) => lastEnd.get(...key) ?? null,
    /** Of a version, the values of its key and columns, since when it is so, the run, and the document. */
    insert,
    /** Gives a current version other columns than it has, and nothing where it has these. */
    mend: (version: number, values: readonly Value[]) => void mend.run(...values, version, ...values),
    /** Moves a row to the past; false where it was not there any more. */
    close: (version: number, closing: Closing): boolean => {
      toPast(version, closing);
      return remove.run(version).changes > 0;
    },
  };
}

/** Copies a version to the past as it stands. */
export function createArchive(db: Sqlite, entry: Entry): (version: number, closing: Closing) => void {
  const ends = { number: '?', at: '?', by: '?', isRemoved: '?' };
  const statement = db.prepare<[number, string, number, number, number]>(
    archive(SQLITE, entry, ends, `FROM ${entry.table} AS v WHERE version = ?`),
  );
  return (version, { at, syncId, number, isRemoved }) =>
    void statement.run(number, at, syncId, Number(isRemoved), version);
}
