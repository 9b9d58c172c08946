import type { RowKey, MirrorPort } from '../../mirror/port.js';
import type { SqlValue } from '../../resources/sql-values.js';
import { type ListResource, LISTS } from '../../resources/lists.js';
import type { Rows, Table } from '../dialect.js';
import { statement, type Database } from '../statement.js';
import { kindsOf } from './versions.js';

type Row = Readonly<Record<string, SqlValue>> & { readonly version: number };

/** Looks for the current rows of lists, many in one statement. */
export function createRows({ look }: Database): Pick<MirrorPort, 'findRows' | 'listRowsAfter'> {
  const looksOf = cachePerList(createLooks);
  return {
    findRows: async ({ organizationId, resource }, keys, withCells = false) => {
      const { keyOf, own, finding } = looksOf(resource);
      const find = finding[withCells ? 'whole' : 'plain'];
      const [found] = await look(
        keys.length === 0 ? null : find({ organizationId, keys: keyRows(resource, keys) }),
      );
      return found.map(row => ({
        version: row.version,
        document: String(row['document']),
        key: keyOf(row),
        cells: withCells ? own.map(name => row[name] ?? null) : [],
      }));
    },
    listRowsAfter: async ({ organizationId, resource }, key, limit) => {
      const { keyOf, first, next } = looksOf(resource);
      const named = Object.fromEntries((key ?? []).map((part, index) => [`key_${index}`, part]));
      const asked =
        key === null ? first({ organizationId, limit }) : next({ ...named, organizationId, limit });
      const [rows] = await look(asked);
      return rows.map(row => ({ version: row.version, key: keyOf(row) }));
    },
  };
}

function keyRows(resource: ListResource, keys: readonly RowKey[]): Table {
  const names = LISTS[resource].key.map(({ name }) => name);
  const rows: Rows = keys;
  return { columns: kindsOf(LISTS[resource].table, names), rows };
}

function createLooks(resource: ListResource) {
  const { table: name, scope, key, columns } = LISTS[resource];
  const table = `mirror.${name}`;
  const names = key.map(part => part.name);
  const tuple = names.join(', ');
  const kinds = kindsOf(name, names);
  const own = columns.map(column => column.name);
  const plain = ['version', 'document', ...names];
  /** Numbers that may be beyond 2^53 as texts: they are compared, and written as they came. */
  const cells = Object.entries(kindsOf(name, own)).map(([column, kind]) =>
    kind === 'large' ? `CAST(${column} AS text) AS ${column}` : column,
  );
  const place = ['version', ...names].join(', ');
  const order = [scope, ...names].join(', ');
  const finding = (shown: readonly string[]) =>
    statement<{ organizationId: string; keys: Table }, Row>(({ rows }) => {
      const wanted = names.map(part => `g.${part}`).join(', ');
      const ofKeys =
        names.length === 0 ? '' : `AND (${tuple}) IN (SELECT ${wanted} FROM ${rows('@keys', 'g', kinds)})`;
      return `SELECT ${shown.join(', ')} FROM ${table} WHERE ${scope} = @organizationId ${ofKeys}`;
    });
  const later = names.length === 0 ? '' : `AND (${tuple}) > (${names.map((_, n) => `@key_${n}`).join(', ')})`;
  return {
    keyOf: (row: Row): RowKey => names.map(part => String(row[part])),
    own,
    finding: { plain: finding(plain), whole: finding([...plain, ...cells]) },
    first: statement<{ organizationId: string; limit: number }, Row>(
      `SELECT ${place} FROM ${table} WHERE ${scope} = @organizationId ORDER BY ${order} LIMIT @limit`,
    ),
    next: statement<Readonly<Record<string, string | number>>, Row>(
      `SELECT ${place} FROM ${table} WHERE ${scope} = @organizationId ${later} ORDER BY ${order} LIMIT @limit`,
    ),
  };
}

/** What is made once for each list, when it is first asked for. */
export function cachePerList<T>(make: (resource: ListResource) => T): (resource: ListResource) => T {
  const made = new Map<ListResource, T>();
  return resource => {
    const known = made.get(resource) ?? make(resource);
    made.set(resource, known);
    return known;
  };
}
