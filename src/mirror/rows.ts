import type { Sqlite } from '../database/open.js';
import type { Value } from './columns.js';
import type { Descriptor } from './resources.js';

export interface Stored {
  readonly version: number;
  readonly document: string;
}

/** The parts of a key, each of them an id or a hash. */
export type Key = readonly string[];

/** One text for a key: no id holds a NUL. */
export function nameOf(key: Key): string {
  return key.join('\0');
}

/** The current rows of one table and their closed versions: the only place that writes either. */
export interface Rows<Item> {
  keyOf(item: Item): Key;
  /** Those of the keys that are there, by name; one statement for all of them. */
  find(organizationId: string, keys: readonly Key[]): Map<string, Stored>;
  /** Those of the versions that are still current. */
  among(organizationId: string, versions: readonly number[]): Stored[];
  insert(version: number, organizationId: string, item: Item, validFrom: string, runId: number): void;
  /** Since when a current version is so. */
  validFrom(version: number): string | null;
  /** When the last version of a row that is not there any more ended. */
  lastEnd(organizationId: string, key: Key): string | null;
  /** Moves a row to the past; false where it was not there any more. */
  close(version: number, validTo: string, runId: number): boolean;
  /** Up to `limit` rows after a key, in the order of their keys. */
  after(organizationId: string, key: Key | null, limit: number): Place[];
}

export interface Place {
  readonly version: number;
  readonly key: Key;
}

export function createRows<Item extends { document: string }>(
  db: Sqlite,
  descriptor: Descriptor<Item>,
): Rows<Item> {
  const { table, scope } = descriptor;
  const keyNames = descriptor.key.map(part => part.name);
  const cells = [...descriptor.key, ...descriptor.columns];
  const names = ['version', scope, ...cells.map(cell => cell.name), 'valid_from', 'sync_run_id', 'document'];
  const whole = names.join(', ');
  const wanted = keyNames.map((_, index) => `value ->> ${index}`).join(', ');
  const ofKeys =
    keyNames.length > 0 ? `AND (${keyNames.join(', ')}) IN (SELECT ${wanted} FROM json_each(?))` : '';
  const later =
    keyNames.length > 0 ? `AND (${keyNames.join(', ')}) > (${keyNames.map(() => '?').join(', ')})` : '';

  const find = db
    .prepare<string[], [number, string, ...string[]]>(
      `SELECT ${['version', 'document', ...keyNames].join(', ')} FROM ${table} WHERE ${scope} = ? ${ofKeys}`,
    )
    .raw();
  // The plus keeps SQLite from walking all rows of the organization instead.
  const among = db.prepare<[string, string], Stored>(
    `SELECT version, document FROM ${table} WHERE version IN (SELECT value FROM json_each(?)) AND +${scope} = ?`,
  );
  const insert = db.prepare<Value[]>(
    `INSERT INTO ${table} (${whole}) VALUES (${names.map(() => '?').join(', ')})`,
  );
  const since = db.prepare<[number], string>(`SELECT valid_from FROM ${table} WHERE version = ?`).pluck();
  const its = [scope, ...keyNames].map(name => `${name} = ?`).join(' AND ');
  const lastEnd = db
    .prepare<string[], string | null>(`SELECT max(valid_to) FROM ${table}_past WHERE ${its}`)
    .pluck();
  const archive = db.prepare<[string, number, number]>(
    `INSERT INTO ${table}_past (${whole}, valid_to, closed_by)
     SELECT ${whole}, ?, ? FROM ${table} WHERE version = ?`,
  );
  const remove = db.prepare<[number]>(`DELETE FROM ${table} WHERE version = ?`);
  const order = [scope, ...keyNames].join(', ');
  const first = db
    .prepare<[string, number], [number, ...string[]]>(
      `SELECT ${['version', ...keyNames].join(', ')} FROM ${table} WHERE ${scope} = ? ORDER BY ${order} LIMIT ?`,
    )
    .raw();
  const next = db
    .prepare<(string | number)[], [number, ...string[]]>(
      `SELECT ${['version', ...keyNames].join(', ')} FROM ${table} WHERE ${scope} = ? ${later} ORDER BY ${order} LIMIT ?`,
    )
    .raw();

  return {
    keyOf: item => descriptor.key.map(part => String(part.of(item))),
    find: (organizationId, keys) => {
      if (keys.length === 0) return new Map();
      const found = find.all(organizationId, ...(keyNames.length > 0 ? [JSON.stringify(keys)] : []));
      return new Map(found.map(([version, document, ...key]) => [nameOf(key), { version, document }]));
    },
    among: (organizationId, versions) =>
      versions.length === 0 ? [] : among.all(JSON.stringify(versions), organizationId),
    insert: (version, organizationId, item, validFrom, runId) => {
      const values: Value[] = [version, organizationId];
      for (const cell of cells) values.push(cell.of(item));
      values.push(validFrom, runId, item.document);
      insert.run(...values);
    },
    validFrom: version => since.get(version) ?? null,
    lastEnd: (organizationId, key) => lastEnd.get(organizationId, ...key) ?? null,
    close: (version, validTo, runId) => {
      archive.run(validTo, runId, version);
      return remove.run(version).changes > 0;
    },
    after: (organizationId, key, limit) => {
      const found = key === null ? first.all(organizationId, limit) : next.all(organizationId, ...key, limit);
      return found.map(([version, ...place]) => ({ version, key: place }));
    },
  };
}
