/** Reads the mirror in the order and form in which it is compared with the registry. */
import { sql } from 'kysely';
import type { Reader } from '../store/contract/reader.js';
import type { Row, Tables } from '../store/contract/tables.js';
import { queryBuilder } from '../store/sql/builder.js';
import { type ResourceEntry, listKeyColumns } from '../resources/entry.js';
import { LIST_RESOURCES } from '../resources/lists.js';
import { UNREADABLE_STATES } from './coverage.js';
import { ALL_COLUMNS, relation, selectColumns } from './lists/relation.js';
import { buildOrganizationCondition, readFirst, readOne } from './read-one.js';
import { sqlStatement } from '../store/sql/columns.js';

/** An object that the registry returns by its id. */
export interface ComparedObject {
  readonly organization_id: string;
  readonly installation_id: string;
  readonly key: string;
  /** The document in the mirror. Null if the mirror says that the object does not exist. */
  readonly kept: string | null;
}

/**
 * Reads the installations. In each result, `kept` has the state and the document that the mirror stores; it is null if the organization
 * removed the app. If `organizationId` is null, reads the installations of all organizations.
 */
export async function readInstallations(
  { all }: Reader,
  organizationId: string | null = null,
): Promise<ComparedObject[]> {
  return await all(
    queryBuilder
      .selectFrom('mirror.installations')
      .select(eb => [
        eb.fn.coalesce('organization_id', sql.lit('')).as('organization_id'),
        'id as installation_id',
        'id as key',
        sql<string | null>`CASE state WHEN 'uninstalled' THEN NULL ELSE state || ' ' || document END`.as(
          'kept',
        ),
      ])
      .where(buildOrganizationCondition(organizationId))
      .orderBy('id'),
  );
}

/** Selects the newest active installation of each organization. */
function selectActiveInstallations() {
  return queryBuilder
    .selectFrom('mirror.installations')
    .select(eb => ['organization_id', eb.fn.max('id').as('id')])
    .where('state', '=', 'active')
    .groupBy('organization_id');
}

/**
 * Reads the projects that the registry lets the app read, if rows of an organization with an active installation refer to them. Each result
 * names one of these organizations. If `organizationId` is given, only rows of this organization are considered.
 */
export async function readProjects(
  { all }: Reader,
  organizationId: string | null = null,
): Promise<ComparedObject[]> {
  return await all(
    queryBuilder
      .selectFrom('mirror.projects as project')
      .innerJoin('mirror.project_states as project_state', join =>
        join.onRef('project_state.project_id', '=', 'project.id').on('project_state.state', '=', 'readable'),
      )
      .innerJoin('mirror.project_references as reference', 'reference.project_id', 'project.id')
      .innerJoin(
        selectActiveInstallations().as('active'),
        'active.organization_id',
        'reference.organization_id',
      )
      .select(eb => [
        eb.fn.min('reference.organization_id').as('organization_id'),
        eb.fn.min('active.id').as('installation_id'),
        'project.id as key',
        'project.document as kept',
      ])
      .where(buildOrganizationCondition(organizationId, 'reference.organization_id'))
      .groupBy(['project.id', 'project.document'])
      .orderBy('project.id'),
  );
}

/**
 * Streams all versions of the rows of a table, in no particular order. Reading them in pages by version number would make
 * PostgreSQL sort all remaining rows of the view for each page.
 */
export function streamVersions({ stream }: Reader, tableName: string): AsyncIterable<Row> {
  return stream(sqlStatement`SELECT ${ALL_COLUMNS} FROM ${relation(`${tableName}_history`)}`);
}

/** Streams the key and the JSON document of each row of an organization. The document is as the registry sent it. */
export function readDocuments(
  { stream }: Reader,
  entry: ResourceEntry,
  organizationId: string,
): AsyncIterable<Row> {
  const columns = selectColumns([...listKeyColumns(entry), 'document']);
  const isOwned = buildOrganizationCondition(organizationId, entry.scope ?? 'id');
  return stream(sqlStatement`SELECT ${columns} FROM ${relation(entry.table)} WHERE ${isOwned}`);
}

/**
 * Reads the lists that can be compared with the registry: each was read completely, and an active installation can read it
 * again. A null `organizationId` means the lists of all organizations.
 */
export async function readComparableLists({ all }: Reader, organizationId: string | null = null) {
  const lists = await all(
    queryBuilder
      .selectFrom('mirror.freshness as list')
      .innerJoin(selectActiveInstallations().as('active'), 'active.organization_id', 'list.organization_id')
      .select(['active.organization_id', 'active.id as installation_id', 'list.resource'])
      .where('list.as_of', 'is not', null)
      .where('list.state', 'not in', UNREADABLE_STATES)
      .where(buildOrganizationCondition(organizationId, 'list.organization_id'))
      .orderBy('list.organization_id')
      .orderBy('list.resource'),
  );
  return lists.map(list => ({ ...list, organization_id: list.organization_id ?? '' }));
}

/**
 * Reads the lists that cannot be compared with the registry, because they were never read completely or can no longer be read.
 * A null `organizationId` means the lists of all organizations.
 */
export async function readNotCompared({ all }: Reader, organizationId: string | null = null) {
  return await all(
    queryBuilder
      .selectFrom('mirror.coverage as known')
      .leftJoin('mirror.freshness as list', 'list.organization_id', 'known.organization_id')
      .select(eb => [
        'known.organization_id',
        'known.installation_id',
        'known.organization_name as name',
        eb.fn.coalesce('list.resource', sql.lit('*')).as('resource'),
        sql<string>`coalesce(list.state, known.state)`.as('state'),
        'list.reason',
      ])
      .where(eb => eb.or([eb('list.as_of', 'is', null), eb('list.state', 'in', UNREADABLE_STATES)]))
      .where(eb =>
        eb.or([eb('list.resource', 'is', null), eb('list.resource', 'in', [...LIST_RESOURCES, '*'])]),
      )
      .where(buildOrganizationCondition(organizationId, 'known.organization_id'))
      .orderBy('known.organization_id', order => order.asc().nullsFirst())
      .orderBy('known.installation_id')
      .orderBy('list.resource'),
  );
}

/** An installation through which the registry can be read. */
export interface InstallationTarget extends Pick<Tables['installations'], 'organization_id' | 'state'> {
  readonly installation_id: string;
}

/**
 * Reads the installations through which the registry can be read: all that are not uninstalled. With an organization, reads its
 * installations in any state.
 */
export async function readInstallationTargets(
  { all }: Reader,
  organizationId: string | null,
): Promise<InstallationTarget[]> {
  const installations = queryBuilder.selectFrom('mirror.installations');
  return await all(
    (organizationId === null
      ? installations.where('state', '<>', 'uninstalled')
      : installations.where('organization_id', '=', organizationId)
    )
      .select(['id as installation_id', 'organization_id', 'state'])
      .orderBy('organization_id', order => order.asc().nullsFirst())
      .orderBy('id'),
  );
}

/** Reads the newest active installation of an organization or, if none is active, the newest one. */
export async function readNewestInstallation(reader: Reader, organizationId: string) {
  return await readFirst(
    reader,
    queryBuilder
      .selectFrom('mirror.installations')
      .select(['id', 'document'])
      .where('organization_id', '=', organizationId)
      .orderBy(sql`CASE state WHEN 'active' THEN 0 ELSE 1 END`)
      .orderBy('version', 'desc'),
  );
}

/** Reads the lowest credit id in the warehouse of an organization. Null if the warehouse is empty. */
export async function readLowestCreditId(reader: Reader, organizationId: string): Promise<string | null> {
  const { first } = await readOne(
    reader,
    queryBuilder
      .selectFrom('mirror.warehouse_credits')
      .select(eb => eb.fn.min<string | null>('credit_id').as('first'))
      .where('organization_id', '=', organizationId),
  );
  return first;
}
