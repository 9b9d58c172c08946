import { type RawBuilder, sql } from 'kysely';
import { buildValidAtCondition } from '../read-one.js';
import { hasColumn } from '../../store/contract/tables.js';
import { type Condition, buildCondition } from './condition.js';
import { buildAnyOwnerCondition, buildProjectOfCondition } from './find-by-id.js';
import type { ListSelection, List } from './list-type.js';
import { joinConditions, relation } from './relation.js';

/** The column through which the organization of a row is known. */
export const OWNER = 'organization_id';

/**
 * Returns the part of an SQL query after the word FROM that selects the matching rows of a list: the table, WHERE, and all conditions. The
 * caller can append another condition with AND. If `searchesAllOwners` is true, adds a condition that lists all organizations. It lets the
 * database find an id by the primary key, which starts with the organization, instead of searching all rows.
 */
export function matchingRows(
  { list, where, at }: ListSelection,
  searchesAllOwners = searchesById(list, where),
): RawBuilder<unknown> {
  const hasOwner = where.some(({ column }) => column === OWNER);
  const conditions = where.map(condition =>
    condition.column === OWNER && 'is' in condition && !hasColumn(list.from, OWNER)
      ? buildProjectOfCondition(String(condition.is))
      : buildCondition(condition, at),
  );
  return sql`${relation(list.from)} AS listed WHERE ${joinConditions([
    ...conditions,
    ...(searchesAllOwners && !hasOwner ? [buildAnyOwnerCondition(list.entry)] : []),
    ...(at === null ? [] : [buildValidAtCondition(at)]),
  ])}`;
}

/**
 * Whether the request selects rows by their id. The primary key starts with the organization, so the id is searched in each organization.
 */
function searchesById(list: List, where: readonly Condition[]): boolean {
  return where.some(({ column }) => column === list.idColumn);
}
