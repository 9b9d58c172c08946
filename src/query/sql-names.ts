/** Names of tables and views in SQL queries. */
import type { Relation } from '../store/contract/describe-schema.js';
import { computeEditDistance } from '../text/spelling.js';

/** Finds the unknown name in the error message of SQLite or PostgreSQL. */
const UNKNOWN_NAME = /(table|relation|column):? "?([\w.]+)/;
const MAX_SUGGESTIONS = 4;
/** Tables and views that people query most, the most common first. */
export const COMMON_RELATIONS =
  'available_credits retirements warehouse_credits freshness changes certificates'.split(' ');

/**
 * Returns a hint for the unknown table or column in an error message, such as `Did you mean retirements?` For a column, names
 * similar columns of the tables in `query`, and other tables that have the column. Null if no known name is similar.
 */
export function suggestNames(message: string, schema: readonly Relation[], query = ''): string | null {
  const [, kind, qualifiedName = ''] = UNKNOWN_NAME.exec(message) ?? [];
  const [unknownName = '', qualifier = null] = qualifiedName.toLowerCase().split('.').toReversed();
  if (kind !== 'column') return formatSuggestions(findSimilar(unknownName, schema.map(getQualifiedName)));
  const relations = selectRelationsOf(query, qualifier, schema);
  const near = findSimilar(unknownName, columnsOf(relations)).map(column => {
    const owners = relations.filter(relation => hasColumn(relation, column)).map(getQualifiedName);
    return `${qualifier === null ? '' : `${qualifier}.`}${column} of ${owners.join(' and ')}`;
  });
  const hints = [
    suggestJoin(unknownName, relations, schema) ?? formatSuggestions(near),
    describeTablesWithColumn(unknownName, schema),
  ].filter(hint => hint !== null);
  if (hints.length > 0) return hints.join(' ');
  return formatSuggestions(findSimilar(unknownName, columnsOf(schema)));
}

function columnsOf(relations: readonly Relation[]): string[] {
  return relations.flatMap(({ columns }) => columns.map(({ name }) => name));
}

function hasColumn({ columns }: Relation, column: string): boolean {
  return columns.some(({ name }) => name === column);
}

/** Returns a sentence that names the tables and views with this column, the most common first. Null if none has it. */
function describeTablesWithColumn(unknownName: string, schema: readonly Relation[]): string | null {
  const owners = schema.filter(relation => hasColumn(relation, unknownName)).map(getQualifiedName);
  if (owners.length === 0) return null;
  const shown = owners
    .toSorted((one, other) => rankRelation(one) - rankRelation(other))
    .slice(0, MAX_SUGGESTIONS);
  return `"${unknownName}" is a column of ${shown.join(', ')}.`;
}

/**
 * Suggests a table to join if the query uses a name but its tables have only the id. For example, for `organization_name` and a table with
 * `organization_id`, suggests the column `full_name` of organizations. Null if no table has such a name.
 */
function suggestJoin(
  unknownName: string,
  relations: readonly Relation[],
  schema: readonly Relation[],
): string | null {
  const [, noun] = /^(\w+)_name$/.exec(unknownName) ?? [];
  const owner = schema.find(relation => relation.name === `${noun}s` && hasColumn(relation, 'full_name'));
  if (owner === undefined || hasColumn(owner, unknownName)) return null;
  const name = getQualifiedName(owner);
  if (relations.includes(owner)) return `The name is ${name}.full_name.`;
  const idOwner = relations.find(relation => hasColumn(relation, `${noun}_id`));
  if (idOwner === undefined) return null;
  return `The name is ${name}.full_name: join ${name} on ${name}.id = ${getQualifiedName(idOwner)}.${noun}_id.`;
}

/**
 * Returns the tables and views that a query names. If the column has a qualifier, such as `o` in `o.name`, returns only the tables for
 * which the qualifier stands.
 */
function selectRelationsOf(
  query: string,
  qualifier: string | null,
  schema: readonly Relation[],
): readonly Relation[] {
  const named = schema.filter(({ name }) => new RegExp(`\\b${name}\\b`, 'i').test(query));
  if (qualifier === null) return named;
  return named.filter(
    ({ name }) =>
      name === qualifier || new RegExp(`\\b${name}\\s+(?:as\\s+)?${qualifier}\\b`, 'i').test(query),
  );
}

/** Returns the names that are most similar to an unknown one, the most similar first. */
function findSimilar(unknownName: string, names: readonly string[]): string[] {
  const distanceTo = (name: string) =>
    name.includes(unknownName) ? 1 : computeEditDistance(unknownName, name.replace('inbox.', ''));
  return [...new Set(names)]
    .filter(name => unknownName !== '' && distanceTo(name) <= Math.max(2, unknownName.length / 3))
    .toSorted(
      (one, other) =>
        distanceTo(one) - distanceTo(other) ||
        rankRelation(one) - rankRelation(other) ||
        one.length - other.length,
    )
    .slice(0, MAX_SUGGESTIONS);
}

function formatSuggestions(names: readonly string[]): string | null {
  return names.length === 0 ? null : `Did you mean ${names.join(', ')}?`;
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
