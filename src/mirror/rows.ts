import type { Sqlite } from '../database/open.js';
import type { Value } from './columns.js';
import type { Descriptor } from './resources.js';

export interface Stored {
  readonly version: number;
  readonly document: string;
}

/** The current rows of one table and their closed versions: the only place that writes either. */
export interface Rows<Item> {
  keyOf(item: Item): string[];
  find(organizationId: string, key: readonly string[]): Stored | undefined;
  insert(version: number, organizationId: string, item: Item, validFrom: string, runId: number): void;
  /**
   * Moves a row to the past; false where it was not there any more.
   * One that the same read had written was true at no instant, and leaves no trace.
   */
  close(version: number, validTo: string, runId: number): boolean;
  /** Up to `limit` rows after a key, in the order of their keys. */
  after(organizationId: string, key: readonly string[] | null, limit: number): Place[];
}

export interface Place {
  readonly version: number;
  readonly key: readonly string[];
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
  const where = [scope, ...keyNames].map(name => `${name} = ?`).join(' AND ');
  const later =
    keyNames.length > 0 ? `AND (${keyNames.join(', ')}) > (${keyNames.map(() => '?').join(', ')})` : '';

  const find = db.prepare<string[], Stored>(`SELECT version, document FROM ${table} WHERE ${where}`);
  const insert = db.prepare<Value[]>(
    `INSERT INTO ${table} (${whole}) VALUES (${names.map(() => '?').join(', ')})`,
  );
  const archive = db.prepare<[string, number, number, string]>(
    `INSERT INTO ${table}_past (${whole}, valid_to, closed_by)
     SELECT ${whole}, ?, ? FROM ${table} WHERE version = ? AND valid_from < ?`,
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
    find: (organizationId, key) => find.get(organizationId, ...key),
    insert: (version, organizationId, item, validFrom, runId) => {
      const values: Value[] = [version, organizationId];
      for (const cell of cells) values.push(cell.of(item));
      values.push(validFrom, runId, item.document);
      insert.run(...values);
    },
    close: (version, validTo, runId) => {
      archive.run(validTo, runId, version, validTo);
      return remove.run(version).changes > 0;
    },
    after: (organizationId, key, limit) => {
      const found = key === null ? first.all(organizationId, limit) : next.all(organizationId, ...key, limit);
      return found.map(([version, ...place]) => ({ version, key: place }));
    },
  };
}
