import type { MirrorPort, NumberedKey, StoredRow } from '../../../mirror/port.js';
import { LISTS } from '../../../resources/lists.js';
import type { Postgres } from '../open.js';

/** Looks for the current rows of lists, many in one statement. */
export function createListRows({ query }: Postgres): Pick<MirrorPort, 'find' | 'after'> {
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
