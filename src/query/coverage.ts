/** Which organizations the mirror knows, and how many of them an answer includes. */
import { sql } from 'kysely';
import type { Tables } from '../store/contract/tables.js';
import type { Reader } from '../store/contract/reader.js';
import { queryBuilder } from '../store/sql/builder.js';
import type { AnswerNotes, Coverage } from './answer/answer.js';
import { buildOrganizationCondition, countRows, readOne } from './read-one.js';

/** States of lists that nobody can read any more, or never could. */
export const UNREADABLE_STATES = ['no_access', 'not_offered'] as const;

/** A known organization. Its id is null if only a webhook has named its installation. */
export interface KnownOrganization
  extends Pick<Tables['coverage'], 'organization_id' | 'installation_id' | 'state'> {
  readonly name: string | null;
}

/** Returns the name of an organization; without a name its id, and without an id that of its installation. */
export function getOrganizationName({
  name,
  organization_id: id,
  installation_id: installationId,
}: Pick<KnownOrganization, 'name' | 'organization_id' | 'installation_id'>): string {
  return name ?? id ?? installationId;
}

/**
 * Reads the known organizations. An organization is known if one of its installations appeared in an answer of the registry or in a
 * webhook. Organizations that removed the app stay known. If `organizationId` is null, reads all of them.
 */
export async function readKnownOrganizations(
  { all }: Reader,
  organizationId: string | null,
): Promise<KnownOrganization[]> {
  return await all(
    queryBuilder
      .selectFrom('mirror.coverage')
      .select(['organization_id', 'installation_id', 'organization_name as name', 'state'])
      .where(buildOrganizationCondition(organizationId))
      .orderBy('organization_name', order => order.asc().nullsFirst())
      .orderBy('organization_id', order => order.asc().nullsFirst())
      .orderBy('installation_id'),
  );
}

/** Counts the known organizations that have the app. With an id, returns 1 if that organization has the app, otherwise 0. */
export async function countInstalled(reader: Reader, organizationId: string | null = null): Promise<number> {
  return await countRows(
    reader,
    queryBuilder
      .selectFrom('mirror.coverage')
      .select('state')
      .where('state', '<>', 'uninstalled')
      .where(buildOrganizationCondition(organizationId)),
  );
}

const AMOUNT_LISTS = ['warehouse', 'inventory', 'retirements'] as const;

/**
 * Counts the organizations whose amounts are included when the mirror adds up amounts. At least one of their lists with amounts was read
 * completely, and none of these lists still waits for its first read. `are` selects organizations that have the app, or those that removed
 * the app.
 */
export async function countSummedOrganizations(
  reader: Reader,
  are: 'installed' | 'uninstalled',
  organizationId: string | null = null,
): Promise<number> {
  const read = queryBuilder
    .selectFrom('mirror.resource_states')
    .select('organization_id')
    .where('first_complete_at', 'is not', null)
    .where('resource', 'in', AMOUNT_LISTS);
  const unread = queryBuilder
    .selectFrom('mirror.freshness')
    .select(sql.ref<string>('organization_id').as('organization_id'))
    .where('state', '=', 'never_read')
    .where('resource', 'in', AMOUNT_LISTS);
  const summed = queryBuilder
    .selectFrom('mirror.coverage')
    .select('state')
    .where('state', are === 'installed' ? '<>' : '=', 'uninstalled')
    .where(buildOrganizationCondition(organizationId))
    .where('organization_id', 'in', read.except(unread));
  return await countRows(reader, summed);
}

/**
 * Selects the ids of organizations that have the app and whose list `resource` was read completely at least once. If `resource` is null, a
 * complete read of any of their lists is enough.
 */
export function selectInstalledAndRead(resource: string | null) {
  const installed = queryBuilder
    .selectFrom('mirror.coverage')
    .select('organization_id')
    .where('state', '<>', 'uninstalled');
  return queryBuilder
    .selectFrom('mirror.resource_states')
    .select('organization_id')
    .where(resource === null ? sql<boolean>`1 = 1` : sql<boolean>`resource = ${resource}`)
    .where('first_complete_at', 'is not', null)
    .where('organization_id', 'in', installed);
}

/**
 * Returns how many of the known organizations have a list that was read completely at least once. If `resource` is null, one list of any
 * kind is enough.
 */
export async function readListCoverage(
  reader: Reader,
  { organizationId, resource }: { readonly organizationId: string | null; readonly resource: string | null },
): Promise<Coverage> {
  const counted = await countRows(
    reader,
    selectInstalledAndRead(resource).distinct().where(buildOrganizationCondition(organizationId)),
  );
  const known = await countInstalled(reader, organizationId);
  return { counted, known, missing: known - counted };
}

/**
 * Reads the notes on a sum over all rows of the list `resource`: how many organizations are included, and how many of these have a list
 * that is not fresh. The sum then includes their last known rows.
 */
export async function readListNotes(reader: Reader, resource: string): Promise<AnswerNotes> {
  const { counted, last_seen: organizations } = await readOne(
    reader,
    queryBuilder
      .selectFrom('mirror.freshness')
      .select(eb => [
        eb.fn.countAll<number>().as('counted'),
        eb.fn.countAll<number>().filterWhere('state', '<>', 'fresh').as('last_seen'),
      ])
      .where('resource', '=', resource)
      .where('organization_id', 'in', selectInstalledAndRead(resource)),
  );
  const known = await countInstalled(reader);
  return {
    at: null,
    totals: null,
    coverage: { counted, known, missing: known - counted },
    freshness: [],
    gaps: [],
    caveats: organizations === 0 ? [] : [{ code: 'last_seen', organizations }],
  };
}

/** Counts the credits, retirements and certificates in the mirror, and the lists and certificates that are still to be read. */
export async function readMirrored(reader: Reader) {
  return {
    organizations: await countInstalled(reader),
    ...(await readOne(
      reader,
      queryBuilder.selectNoFrom(eb => {
        const countAll = sql<number>`count(*)`.as('count');
        const warehouse = eb.selectFrom('mirror.warehouse_credits').select(countAll);
        const inventory = eb.selectFrom('mirror.inventory_credits').select(countAll);
        const retirements = eb.selectFrom('mirror.retirements').select(countAll);
        const certificates = eb
          .selectFrom('mirror.certificates')
          .select(countAll)
          .where('state', '=', 'stored');
        const lists = eb.selectFrom('mirror.freshness').select(countAll).where('state', '=', 'never_read');
        const missing = eb.selectFrom('mirror.certificates_missing').select(countAll);
        return [
          sql<number>`${warehouse} + ${inventory}`.as('credits'),
          sql<number>`${retirements}`.as('retirements'),
          sql<number>`${certificates}`.as('certificates'),
          /** Lists and certificates that can be read, and that nobody has read yet. */
          sql<number>`${lists} + ${missing.where('state', '=', 'pending')}`.as('unread'),
        ];
      }),
    )),
  };
}
