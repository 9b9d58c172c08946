/** Finds rows of a resource by their ids. */
import { type Expression, sql, type SqlBool } from 'kysely';
import type { Reader } from '../../store/contract/reader.js';
import { queryBuilder } from '../../store/sql/builder.js';
import { select, sqlStatement } from '../../store/sql/columns.js';
import type { Row } from '../../store/contract/tables.js';
import { type ResourceEntry, getIdColumn, findOwnerColumn } from '../../resources/entry.js';
import { findResourceOfTable } from '../../resources/resources.js';
import { startsWith, buildCondition } from './condition.js';
import { ALL_COLUMNS, relation } from './relation.js';

/** The rows among which ids are searched: by default all rows of the list of a resource. */
export interface IdSearchScope {
  readonly from?: string;
  readonly organizationId?: string | null;
}

/** Finds the ids that start with a text. Returns at most two, which is enough to tell that the text is ambiguous. */
export async function findIdsByStart(
  reader: Reader,
  entry: ResourceEntry,
  text: string,
  { from = entry.source, organizationId = null }: IdSearchScope = {},
): Promise<string[]> {
  const idColumn = getIdColumn(entry);
  const id = sql.ref<string>(idColumn);
  const rows = await reader.all(sqlStatement`SELECT DISTINCT ${select({ id })} FROM ${relation(from)}
    WHERE ${buildOwnerCondition(entry, organizationId)} AND ${buildCondition(startsWith(idColumn, text))}
    ORDER BY id LIMIT 2`);
  return rows.map(row => row.id);
}

/** Reads every row with an id. Several organizations can hold the same credit. */
export async function readRowsById(
  reader: Reader,
  entry: ResourceEntry,
  id: string,
  { from = entry.source, organizationId = null }: IdSearchScope = {},
): Promise<Row[]> {
  return await reader.all(sqlStatement`SELECT ${ALL_COLUMNS} FROM ${relation(from)}
    WHERE ${buildOwnerCondition(entry, organizationId)} AND ${sql.ref(getIdColumn(entry))} = ${id}
    ORDER BY valid_from, version`);
}

/** Reads every version of the rows with an id, oldest first. `valid_to` is null for a version that is still valid. */
export async function readVersionsById(
  reader: Reader,
  entry: ResourceEntry,
  id: string,
  organizationId: string | null = null,
): Promise<Row[]> {
  return await readRowsById(reader, entry, id, { from: `${entry.table}_history`, organizationId });
}

/**
 * Returns the SQL condition that a row belongs to an organization. If `organizationId` is null, the condition accepts the rows of all
 * organizations.
 */
function buildOwnerCondition(entry: ResourceEntry, organizationId: string | null): Expression<SqlBool> {
  if (organizationId === null) return buildAnyOwnerCondition(entry);
  const owner = findOwnerColumn(entry);
  return owner === null
    ? buildProjectOfCondition(organizationId)
    : sql`${sql.ref(owner)} = ${organizationId}`;
}

/** Returns an SQL condition that selects the projects to which rows of an organization refer. */
export function buildProjectOfCondition(organizationId: string): Expression<SqlBool> {
  const projects = queryBuilder
    .selectFrom('mirror.project_references')
    .select('project_id')
    .where('organization_id', '=', organizationId);
  return sql`id IN ${projects}`;
}

/**
 * Returns an SQL condition that is true for every row: the organization of the row is one of the organizations that have this list. The
 * primary key starts with the organization, so this condition lets the database use the primary key to find an id. Returns `1 = 1` if the
 * rows do not belong to organizations.
 */
export function buildAnyOwnerCondition(entry: ResourceEntry | null): Expression<SqlBool> {
  if (entry?.scope !== 'organization_id') return sql`1 = 1`;
  const owners = queryBuilder
    .selectFrom('mirror.resource_states')
    .select('organization_id')
    .where('resource', '=', findListResource(entry));
  return sql`organization_id IN ${owners}`;
}

/** Returns the name of the list whose reads write the rows of a resource. A certificate is read with its retirement. */
function findListResource(entry: ResourceEntry): string {
  return entry.table === 'certificates' ? 'retirements' : findResourceOfTable(entry);
}

/**
 * Returns at most two project ids that start with `text`, among the projects to which credits and retirements refer. Two are
 * enough to see that the text is ambiguous.
 */
export async function findReferencedProjects(reader: Reader, text: string): Promise<string[]> {
  const rows = await reader.all(
    queryBuilder
      .selectFrom('mirror.project_references')
      .select('project_id')
      .distinct()
      .where(buildCondition(startsWith('project_id', text)))
      .orderBy('project_id')
      .limit(2),
  );
  return rows.map(({ project_id: id }) => id);
}
