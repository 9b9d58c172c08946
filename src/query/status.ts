import { sql } from 'kysely';
import type { Reader } from '../store/contract/reader.js';
import { queryBuilder } from '../store/sql/builder.js';
import type { Tables } from '../store/contract/tables.js';
import type { AnswerNotes } from './answer/answer.js';
import { type KnownOrganization, readKnownOrganizations } from './coverage.js';
import {
  compareStandings,
  FRESH,
  rankOf,
  type FreshnessDetails,
  type FreshnessStanding,
  sentenceOf,
  WAITING,
} from './freshness/describe-freshness.js';
import { formatCount } from '../text/numbers.js';
import { readFirstReads } from './first-reads.js';
import { readFindingCounts } from './history/findings.js';
import { readActivity } from './inbox/activity.js';
import { findTroubles, reportFailingLists } from './inbox/troubles.js';
import { readOrigin } from './names.js';
import { countRows } from './read-one.js';
import { groupByOwner } from './sums.js';
import { RANK } from './freshness/read-freshness.js';

/** One organization as the mirror knows it. */
export interface OrganizationStatus extends KnownOrganization {
  readonly resources: readonly ResourceStatus[];
  readonly certificates: Readonly<Record<string, number>>;
}

type ListStanding = FreshnessStanding & Pick<Tables['freshness'], 'rows' | 'as_of'>;
type ResourceStatus = Omit<Tables['freshness'], 'organization_id' | 'attempted_at'>;

export type Status = Awaited<ReturnType<typeof readStatus>>;

/**
 * Reads the organizations with their notes, and the state of the processes and jobs. The notes do not mention the counts of deliveries and
 * jobs: the program itself makes these rows, so their counts are always complete.
 */
export async function readStatus(reader: Reader, now: number) {
  return await reader.inSnapshot(async snapshot => {
    const organizations = await readOrganizations(snapshot, Infinity);
    const origin = await readOrigin(snapshot);
    const activity = await readActivity(snapshot, now);
    return {
      organizations,
      notes: toNotes(organizations),
      registry: origin?.base_url ?? null,
      /** The end of the simulated history of a demo. Null if the mirror is not a demo. */
      simulatedUntil: origin?.simulated_until ?? null,
      ...activity,
      /** The problems that somebody has to look at, and who can act. */
      issues: [
        ...findTroubles(activity, now),
        ...reportFailingLists(await countRows(snapshot, FAILING_LISTS)),
      ],
      firstReads: await readFirstReads(snapshot, now),
      findings: await readFindingCounts(snapshot),
    };
  });
}

/** Lists whose last read failed, was refused although it is permitted, or must be confirmed. */
export const FAILING_LISTS = queryBuilder
  .selectFrom('mirror.freshness')
  .select('resource')
  .where(eb => eb.or([eb('failing_since', 'is not', null), eb('reason', '=', 'removals_unconfirmed')]))
  .where('state', '<>', 'not_offered')
  .where(eb => eb(eb.fn.coalesce('reason', sql.lit('')), 'not in', ['uninstalled', 'suspended']));

/** Creates the notes of the status: how many organizations have data. Freshness is left out, because each list has its own. */
function toNotes(organizations: readonly OrganizationStatus[]): AnswerNotes {
  const installed = organizations.filter(({ state }) => state !== 'uninstalled');
  const counted = installed.filter(({ resources }) => resources.some(list => list.as_of !== null)).length;
  const uninstalled = organizations.length - installed.length;
  return {
    at: null,
    totals: { rows: organizations.length, hasMore: false, amounts: null, rowsWithoutAmount: 0 },
    coverage: { counted, known: installed.length, missing: installed.length - counted },
    freshness: [],
    gaps: [],
    caveats: uninstalled === 0 ? [] : [{ code: 'uninstalled_included', organizations: uninstalled }],
  };
}

/** Reads organizations, those with the worst state first. Among equals, the one with the most credits comes first. */
export async function readOrganizations(reader: Reader, limit: number): Promise<OrganizationStatus[]> {
  const query = selectOrganizationsWorstFirst();
  const known = await reader.all(limit === Infinity ? query : query.limit(limit));
  return await addListStates(reader, known, limit === Infinity ? null : known.map(idOf));
}

/**
 * Selects the known organizations, those with the worst state first. The state of an organization is that of its worst list, as `worstOf`
 * computes it.
 */
function selectOrganizationsWorstFirst() {
  const isCounted = sql`as_of IS NOT NULL OR state <> 'not_offered' AND coalesce(reason, '') <> 'no_permission'`;
  return queryBuilder
    .with('troubled', db =>
      db
        .selectFrom('mirror.freshness')
        .select([
          'organization_id',
          sql<number | null>`max(CASE WHEN ${isCounted} THEN ${RANK} END)`.as('worst'),
        ])
        .where(eb => eb.or([eb('state', '<>', 'fresh'), eb('failing_since', 'is not', null)]))
        .groupBy('organization_id'),
    )
    .selectFrom('mirror.coverage as known')
    .leftJoin('troubled', 'troubled.organization_id', 'known.organization_id')
    .leftJoin('mirror.resource_states as warehouse', join =>
      join
        .onRef('warehouse.organization_id', '=', 'known.organization_id')
        .on('warehouse.resource', '=', 'warehouse'),
    )
    .select([
      'known.organization_id',
      'known.installation_id',
      'known.organization_name as name',
      'known.state',
    ])
    .orderBy(eb => {
      const lists = eb
        .selectFrom('mirror.resource_states as list')
        .select('list.resource')
        .whereRef('list.organization_id', '=', 'known.organization_id');
      return sql`coalesce(troubled.worst, CASE WHEN EXISTS ${lists} THEN ${sql.lit(rankOf(FRESH))} ELSE ${sql.lit(rankOf(WAITING))} END)`;
    }, 'desc')
    .orderBy(sql`coalesce(warehouse.rows, 0)`, 'desc')
    .orderBy('known.organization_name', order => order.asc().nullsFirst())
    .orderBy('known.organization_id', order => order.asc().nullsFirst())
    .orderBy('known.installation_id');
}

/** Reads one organization. Returns null if it is unknown. */
export async function readOrganization(reader: Reader, organizationId: string) {
  return await reader.inSnapshot(async snapshot => {
    const known = await readKnownOrganizations(snapshot, organizationId);
    return (await addListStates(snapshot, known, [organizationId]))[0] ?? null;
  });
}

/** Returns the id of an organization. All organizations whose id is unknown yet share the empty id. */
function idOf({ organization_id: id }: KnownOrganization): string {
  return id ?? '';
}

/**
 * Adds the state of each list and the counts of certificates to organizations. If `ids` is null, reads the states and counts of all
 * organizations.
 */
async function addListStates(
  reader: Reader,
  known: readonly KnownOrganization[],
  ids: readonly string[] | null,
) {
  const findLists = groupByOwner(await readListStates(reader, ids));
  const findCertificates = groupByOwner(await readCertificates(reader, ids));
  return known.map(each => {
    const lists = findLists(each).map(({ organization_id: _, ...list }) => list);
    // An organization that only a webhook has named has one row, which says the same of each list.
    const resources = each.organization_id === null ? lists.slice(0, 1) : lists;
    return { ...each, resources, certificates: countByState(findCertificates(each)) };
  });
}

/**
 * Returns the worst state among the lists of an organization. Ignores a list that the app may not read, unless an earlier read of this list
 * was complete.
 */
export function worstOf({ resources }: { readonly resources: readonly ListStanding[] }): FreshnessStanding {
  if (resources.length === 0) return WAITING;
  const counted = resources.filter(resource => !isWithheld(resource) || isFrozen(resource));
  const [worst = FRESH] = counted.toSorted(compareStandings);
  return worst;
}

/** Whether the organization or the registry does not let the app read the list. */
function isWithheld({ state, reason }: FreshnessStanding): boolean {
  return state === 'not_offered' || reason === 'no_permission';
}

/** Whether the rows of a list are from before the app lost access to it. */
export function isFrozen(resource: ListStanding): boolean {
  return isWithheld(resource) && resource.as_of !== null;
}

/**
 * Describes why a list is not fresh. For a list that the app may no longer read, says how old its rows are. Null if there is nothing to
 * say.
 */
export function describeListState(list: ListStanding & FreshnessDetails): string | null {
  if (!isFrozen(list)) return sentenceOf(list);
  return `its ${formatCount(list.rows, 'row is', 'rows are')} as of ${list.as_of}; nothing newer is known`;
}

/**
 * Reads the state of each list of some organizations, or of all if `ids` is null. The empty id stands for unknown organizations.
 */
async function readListStates({ all }: Reader, ids: readonly string[] | null) {
  const lists = queryBuilder
    .selectFrom('mirror.freshness')
    .select(['organization_id', 'resource', 'state', 'reason', 'error', 'failing_since', 'oldest_unread_at'])
    .select(['worker_seen_at', 'rows', 'drift_total', 'as_of', 'age_seconds'])
    .orderBy('organization_id', order => order.asc().nullsFirst())
    .orderBy('resource');
  if (ids === null) return await all(lists);
  return await all(
    lists.where(eb => {
      const isRequested = eb('organization_id', 'in', ids);
      return ids.includes('') ? eb.or([isRequested, eb('organization_id', 'is', null)]) : isRequested;
    }),
  );
}

/**
 * Counts the certificates by organization and state, for all organizations if `ids` is null. Certificates of retirements without a
 * beneficiary have the state `unclaimed`: the registry makes them only when the retirement has a beneficiary.
 */
async function readCertificates({ all }: Reader, ids: readonly string[] | null) {
  const isRequested = ids === null ? sql<boolean>`1 = 1` : sql<boolean>`organization_id IN ${ids}`;
  return await all(
    queryBuilder
      .with('unclaimed', db =>
        db
          .selectFrom('mirror.certificates as certificate')
          .innerJoin('mirror.retirements as retirement', join =>
            join
              .onRef('retirement.organization_id', '=', 'certificate.organization_id')
              .onRef('retirement.id', '=', 'certificate.retirement_id'),
          )
          .select(eb => ['certificate.organization_id', eb.fn.countAll<number>().as('certificates')])
          .where('certificate.state', '=', 'unavailable')
          .where(sql`coalesce(retirement.beneficiary, '')`, '=', '')
          .groupBy('certificate.organization_id'),
      )
      .selectFrom('mirror.certificate_sums')
      .select(['organization_id', sql<string>`state`.as('state'), 'certificates'])
      .where(isRequested)
      .unionAll(db =>
        db
          .selectFrom('unclaimed')
          .select([
            'organization_id',
            sql<string>`'unavailable'`.as('state'),
            sql<number>`-certificates`.as('certificates'),
          ])
          .where(isRequested),
      )
      .unionAll(db =>
        db
          .selectFrom('unclaimed')
          .select(['organization_id', sql<string>`'unclaimed'`.as('state'), 'certificates'])
          .where(isRequested),
      )
      .orderBy('organization_id')
      .orderBy('state'),
  );
}

/** Adds up counts of certificates by state. States without certificates are left out. */
function countByState(
  sums: readonly { readonly state: string; readonly certificates: number }[],
): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { state, certificates } of sums) counts.set(state, (counts.get(state) ?? 0) + certificates);
  return Object.fromEntries([...counts].filter(([, count]) => count > 0));
}

/** Counts the certificates of all organizations by state. Certificates of retirements without a beneficiary have the state `unclaimed`. */
export async function sumCertificates(reader: Reader): Promise<Record<string, number>> {
  return countByState(await readCertificates(reader, null));
}

/** Counts the certificates of all organizations by state, from stored counts. These do not tell which retirements are unclaimed. */
export async function readCertificateCounts({ all }: Reader): Promise<Record<string, number>> {
  return countByState(
    await all(
      queryBuilder
        .selectFrom('mirror.certificate_sums')
        .select(['state', 'certificates'])
        .orderBy('organization_id')
        .orderBy('state'),
    ),
  );
}
