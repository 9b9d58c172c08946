/** Names of tables and views in SQL queries. */
import type { Relation } from '../store/contract/describe-schema.js';
import { computeEditDistance } from '../text/edit-distance.js';

/** Finds the unknown name in the error message of SQLite or PostgreSQL. */
const UNKNOWN_NAME = /(table|relation|column):? "?([\w.]+)/;
const MAX_SUGGESTIONS = 4;
/** Tables and views that people query most, the most common first. */
export const COMMON_RELATIONS =
  'available_credits retirements warehouse_credits freshness changes certificates'.split(' ');

/**
 * Returns a hint for the unknown table or column in an error message, such as `Did you mean retirements?` Null if no known name
 * is similar.
 */
export function suggestNames(message: string, schema: readonly Relation[]): string | null {
  const [, kind, qualifiedName = ''] = UNKNOWN_NAME.exec(message) ?? [];
  const unknownName = qualifiedName.split('.').at(-1)?.toLowerCase() ?? '';
  const owners = schema.filter(({ columns }) => columns.some(({ name }) => name === unknownName));
  if (kind === 'column' && owners.length > 0)
    return `It is a column of ${owners.slice(0, MAX_SUGGESTIONS).map(getQualifiedName).join(', ')}`;
  const names =
    kind === 'column'
      ? schema.flatMap(({ columns }) => columns.map(({ name }) => name))
      : schema.map(getQualifiedName);
  const distanceTo = (name: string) =>
    name.includes(unknownName) ? 1 : computeEditDistance(unknownName, name.replace('inbox.', ''));
  const suggestions = [...new Set(names)]
    .filter(name => unknownName !== '' && distanceTo(name) <= Math.max(2, unknownName.length / 3))
    .toSorted(
      (one, other) =>
        distanceTo(one) - distanceTo(other) ||
        rankRelation(one) - rankRelation(other) ||
        one.length - other.length,
    )
    .slice(0, MAX_SUGGESTIONS);
  return suggestions.length === 0 ? null : `Did you mean ${suggestions.join(', ')}?`;
}

/** Ranks a table or view by how often people query it; 0 is the most common. */
function rankRelation(name: string): number {
  const index = COMMON_RELATIONS.indexOf(name);
  return index === -1 ? COMMON_RELATIONS.length : index;
}

/** Returns the name by which a query refers to a table or view, such as `retirements` or `inbox.jobs`. */
export function getQualifiedName({ database, name }: Relation): string {
  return database === 'inbox' ? `inbox.${name}` : name;
}
