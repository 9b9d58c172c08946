import type { Sqlite } from '../engines/sqlite/open.js';
import { type Entry, nameOf, ownerOf } from '../resources/entry.js';
import type { Value } from '../engines/contract/tables.js';

export interface ListFilter {
  readonly organizationId: string | null;
  /** Null for all of them. */
  readonly limit: number | null;
}

type Row = Record<string, Value>;

/** Keys begin with the organization: without it, one row is searched for in all of them. */
export const KNOWN_ORGANIZATION = 'organization_id IN (SELECT organization_id FROM resource_states)';

export function readList(db: Sqlite, entry: Entry, filter: ListFilter): IterableIterator<Row> {
  const { columns, from } = entry.shown;
  const where = filter.organizationId === null ? '' : `WHERE ${ofOrganization(entry)}`;
  return db
    .prepare<[object], Row>(
      `SELECT ${columns.join(', ')} FROM ${from} ${where} ORDER BY ${orderOf(entry)} LIMIT @limit`,
    )
    .safeIntegers()
    .iterate({ organizationId: filter.organizationId, limit: filter.limit ?? -1 });
}

export function orderOf({ shown }: Entry): string {
  return shown.order.map(([column, direction]) => `${column} ${direction}`).join(', ');
}

/** Every row with this key: a credit may stand in several organizations. */
export function readByKey(
  db: Sqlite,
  entry: Entry,
  key: string,
  organizationId: string | null = null,
): Row[] {
  const known = entry.scope === 'organization_id' ? `${KNOWN_ORGANIZATION} AND` : '';
  const owned = organizationId === null ? '' : `AND ${ofOrganization(entry)}`;
  return db
    .prepare<[object], Row>(
      `SELECT * FROM ${entry.shown.from} WHERE ${known} ${nameOf(entry)} = @key ${owned}`,
    )
    .safeIntegers()
    .all({ key, organizationId });
}

/** Projects are an organization's where its rows name them. */
function ofOrganization(entry: Entry): string {
  const owner = ownerOf(entry);
  if (owner !== null) return `${owner} = @organizationId`;
  return 'id IN (SELECT project_id FROM project_references WHERE organization_id = @organizationId)';
}
