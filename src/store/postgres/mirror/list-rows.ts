import type { Cells, MirrorPort, NumberedKey, StoredRow } from '../../../mirror/port.js';
import type { Value } from '../../../resources/columns.js';
import { LISTS } from '../../../resources/lists.js';
import type { Postgres } from '../open.js';

/** Looks for the current rows of lists, many in one statement. */
export function createListRows({ query }: Postgres): Pick<MirrorPort, 'find' | 'cells' | 'after'> {
  return {
    find: async ({ organizationId, resource }, keys, versions) => {
      const { table, scope, key } = LISTS[resource];
      const parts = key.map((_, index) => keys.map(its => its[index] ?? ''));
      const wanted = `(SELECT * FROM unnest(${parts.map((_, index) => `$${index + 3}::text[]`).join(', ')}))`;
      const ofKeys = parts.length === 0 ? '' : `AND (${tupleOf(resource)}) IN ${wanted}`;
      const asked = `SELECT version, document, ${arrayOf(resource)} AS key FROM mirror.${table} WHERE ${scope} = $1`;
      return await query<StoredRow>(
        `${asked} AND version = ANY ($2::bigint[])
         UNION ALL ${asked} AND ${keys.length > 0} ${ofKeys}`,
        [organizationId, [...versions], ...parts],
      );
    },
    cells: async ({ organizationId, resource }, versions) => {
      const { table, scope, columns } = LISTS[resource];
      const own = columns.map(({ name }) => name);
      const rows = await query<Pick<Cells, 'version' | 'key'> & Readonly<Record<string, Value>>>(
        `SELECT version, ${arrayOf(resource)} AS key, ${own.join(', ')} FROM mirror.${table}
         WHERE ${scope} = $1 AND version = ANY ($2::bigint[])`,
        [organizationId, [...versions]],
      );
      return rows.map(({ version, key, ...values }) => ({
        version,
        key,
        cells: own.map(name => values[name] ?? null),
      }));
    },
    after: async ({ organizationId, resource }, last, limit) => {
      const { table, scope, key } = LISTS[resource];
      const values = last ?? [];
      const later =
        values.length === 0
          ? ''
          : `AND (${tupleOf(resource)}) > (${values.map((_, index) => `$${index + 3}`).join(', ')})`;
      const order = [scope, ...key.map(({ name }) => name)].join(', ');
      return await query<NumberedKey>(
        `SELECT version, ${arrayOf(resource)} AS key FROM mirror.${table} WHERE ${scope} = $1 ${later}
         ORDER BY ${order} LIMIT $2`,
        [organizationId, limit, ...values],
      );
    },
  };
}

function tupleOf(resource: keyof typeof LISTS): string {
  return LISTS[resource].key.map(({ name }) => name).join(', ');
}

function arrayOf(resource: keyof typeof LISTS): string {
  return `ARRAY[${tupleOf(resource)}]::text[]`;
}
