import type { Sqlite } from '../open.js';
import type { Cells, Key, NumberedKey, StoredRow } from '../../../mirror/port.js';
import type { Value } from '../../../resources/columns.js';
import { type ListResource, LISTS } from '../../../resources/lists.js';

type Row = [version: number, document: string, ...key: string[]];

/** Looks for the current rows of one list, many in one statement. */
export function createListRows(db: Sqlite, resource: ListResource) {
  const { table, scope, key, columns } = LISTS[resource];
  const names = key.map(part => part.name);
  const tuple = names.join(', ');
  const wanted = names.map((_, index) => `value ->> ${index}`).join(', ');
  const ofKeys = names.length > 0 ? `AND (${tuple}) IN (SELECT ${wanted} FROM json_each(?))` : '';
  const later = names.length > 0 ? `AND (${tuple}) > (${names.map(() => '?').join(', ')})` : '';
  const whole = ['version', 'document', ...names].join(', ');
  const place = ['version', ...names].join(', ');
  const order = [scope, ...names].join(', ');

  const find = db.prepare<string[], Row>(`SELECT ${whole} FROM ${table} WHERE ${scope} = ? ${ofKeys}`).raw();
  // The plus keeps SQLite from walking all rows of the organization instead.
  const among = db
    .prepare<[string, string], Row>(
      `SELECT ${whole} FROM ${table} WHERE version IN (SELECT value FROM json_each(?)) AND +${scope} = ?`,
    )
    .raw();
  const cells = db
    .prepare<[string, string], [bigint, ...Value[]]>(
      `SELECT ${['version', ...names, ...columns.map(({ name }) => name)].join(', ')} FROM ${table}
       WHERE version IN (SELECT value FROM json_each(?)) AND +${scope} = ?`,
    )
    .safeIntegers()
    .raw();
  const from = (which: string) =>
    db
      .prepare<(string | number)[], [number, ...string[]]>(
        `SELECT ${place} FROM ${table} WHERE ${scope} = ? ${which} ORDER BY ${order} LIMIT ?`,
      )
      .raw();
  const [first, next] = [from(''), from(later)];

  return {
    find: (organizationId: string, keys: readonly Key[]): StoredRow[] =>
      keys.length === 0
        ? []
        : find.all(organizationId, ...(names.length > 0 ? [JSON.stringify(keys)] : [])).map(storedRow),
    /** Those of the versions that are still current. */
    among: (organizationId: string, versions: readonly number[]): StoredRow[] =>
      versions.length === 0 ? [] : among.all(JSON.stringify(versions), organizationId).map(storedRow),
    cells: (organizationId: string, versions: readonly number[]): Cells[] =>
      cells.all(JSON.stringify(versions), organizationId).map(([version, ...rest]) => ({
        version: Number(version),
        key: rest.slice(0, names.length).map(String),
        cells: rest.slice(names.length),
      })),
    after: (organizationId: string, last: Key | null, limit: number): NumberedKey[] => {
      const found = (last === null ? first : next).all(organizationId, ...(last ?? []), limit);
      return found.map(([version, ...its]) => ({ version, key: its }));
    },
  };
}

function storedRow([version, document, ...key]: Row): StoredRow {
  return { version, document, key };
}

/** What is made once for each list, when it is first asked for. */
export function forEachList<T>(make: (resource: ListResource) => T): (resource: ListResource) => T {
  const made = new Map<ListResource, T>();
  return resource => {
    const known = made.get(resource);
    if (known !== undefined) return known;
    const fresh = make(resource);
    made.set(resource, fresh);
    return fresh;
  };
}
