import { type RawBuilder, sql } from 'kysely';
import { wasValidAt } from '../read-one.js';
import { hasColumn } from '../../store/contract/tables.js';
import { type Condition, matches } from './condition.js';
import { isOfKnownOrganization, isProjectOf } from './find-by-id.js';
import type { ListSelection, List } from './list-type.js';
import { allOf, relation } from './relation.js';

/** The column through which the organization of a row is known. */
export const OWNER = 'organization_id';

/**
 * Returns the table of a list with its conditions, as the part of a query after FROM. Another condition can follow after AND.
 * `searchesAllOwners` adds a condition with which an index finds an id in each organization.
 */
export function matchingRows(
  { list, where, at }: ListSelection,
  searchesAllOwners = searchesById(list, where),
): RawBuilder<unknown> {
  const hasOwner = where.some(({ column }) => column === OWNER);
  const conditions = where.map(condition =>
    condition.column === OWNER && 'is' in condition && !hasColumn(list.from, OWNER)
      ? isProjectOf(String(condition.is))
      : matches(condition, at),
  );
  return sql`${relation(list.from)} AS listed WHERE ${allOf([
    ...conditions,
    ...(searchesAllOwners && !hasOwner ? [isOfKnownOrganization(list.entry)] : []),
    ...(at === null ? [] : [wasValidAt(at)]),
  ])}`;
}

/** Whether rows are searched by their id. Keys start with the organization, so an id alone is searched for in each organization. */
function searchesById(list: List, where: readonly Condition[]): boolean {
  return where.some(({ column }) => column === list.idColumn);
}
