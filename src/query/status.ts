import type { Reader, Statement } from '../store/contract/reader.js';
import type { Tables } from '../store/contract/tables.js';
import { type KnownOrganization, readKnown } from './coverage.js';
import { compareStandings, FRESH, rankOf, type FreshnessStanding, WAITING } from './freshness/words.js';
import { readFirstReads } from './first-reads.js';
import { readFindings } from './history/findings.js';
import { readActivity } from './inbox/activity.js';
import { readOrigin } from './names.js';
import { columns, limit, plain, sql } from './sql.js';
import { byOwner } from './sums.js';
import { RANK } from './freshness/read.js';

/** One organization as the mirror knows it. */
export interface OrganizationStatus extends KnownOrganization {
  readonly resources: readonly ResourceStatus[];
  readonly certificates: Readonly<Record<string, number>>;
}

type Stock = FreshnessStanding & Pick<Tables['freshness'], 'rows' | 'as_of'>;
type ResourceStatus = Omit<Tables['freshness'], 'organization_id' | 'attempted_at'>;

export type Status = Awaited<ReturnType<typeof readStatus>>;

export async function readStatus(reader: Reader, now: number) {
  return await reader.inSnapshot(async snapshot => {
    return {
      organizations: await readOrganizations(snapshot, Infinity),
      registry: (await readOrigin(snapshot))?.base_url ?? null,
      ...(await readActivity(snapshot, now)),
      firstReads: await readFirstReads(snapshot, now),
      findings: await readFindings(snapshot),
    };
  });
}

/** At most so many, trouble first, and of the same trouble that with the most credits. */
export async function readOrganizations(reader: Reader, most: number): Promise<OrganizationStatus[]> {
  const known = await reader.all(troubleFirst(most));
  return await describe(reader, known, most === Infinity ? null : known.map(idOf));
}

const WELL = plain(String(rankOf(FRESH)));
const RANK_OF_WAITING = plain(String(rankOf(WAITING)));

/** Of an organization counts what `worstOf` counts. */
function troubleFirst(most: number): Statement<KnownOrganization> {
  return sql<KnownOrganization>`WITH troubled AS (
      SELECT organization_id, max(CASE WHEN as_of IS NOT NULL OR state <> 'not_offered' AND coalesce(reason, '') <> 'no_permission'
        THEN ${RANK} END) AS worst
      FROM mirror.freshness WHERE state <> 'fresh' OR failing_since IS NOT NULL GROUP BY organization_id)
    SELECT c.organization_id, c.installation_id, c.organization_name AS name, c.state
    FROM mirror.coverage AS c LEFT JOIN troubled AS t ON t.organization_id = c.organization_id
      LEFT JOIN mirror.resource_states AS w ON w.organization_id = c.organization_id AND w.resource = 'warehouse'
    ORDER BY coalesce(t.worst, CASE
        WHEN EXISTS (SELECT 1 FROM mirror.resource_states AS s WHERE s.organization_id = c.organization_id)
        THEN ${WELL} ELSE ${RANK_OF_WAITING} END) DESC,
      coalesce(w.rows, 0) DESC, c.organization_name NULLS FIRST, c.organization_id NULLS FIRST, c.installation_id
    ${limit(most)}`;
}

/** Null where it is not known. */
export async function readOrganization(reader: Reader, organizationId: string) {
  return await reader.inSnapshot(async snapshot => {
    const known = await readKnown(snapshot, organizationId);
    return (await describe(snapshot, known, [organizationId]))[0] ?? null;
  });
}

/** One stands for all that nobody has looked at yet. */
function idOf({ organization_id: id }: KnownOrganization): string {
  return id ?? '';
}

async function describe(reader: Reader, known: readonly KnownOrganization[], ids: readonly string[] | null) {
  const resourcesOf = byOwner(await readResources(reader, ids));
  const certificatesOf = byOwner(await readCertificates(reader, ids));
  return known.map(each => {
    const own = resourcesOf(each).map(({ organization_id: _, ...resource }) => resource);
    // Where only a webhook has named an organization there is one row, and it says the same of each.
    const resources = each.organization_id === null ? own.slice(0, 1) : own;
    return { ...each, resources, certificates: countsOf(certificatesOf(each)) };
  });
}

interface Judged {
  readonly resources: readonly Stock[];
}

/** What is withheld from us counts where rows of before stand there. */
export function worstOf({ resources }: Judged): FreshnessStanding {
  if (resources.length === 0) return WAITING;
  const counted = resources.filter(resource => !isWithheld(resource) || isFrozen(resource));
  const [worst = FRESH] = counted.toSorted(compareStandings);
  return worst;
}

/** As the organization or its registry has it. */
function isWithheld({ state, reason }: FreshnessStanding): boolean {
  return state === 'not_offered' || reason === 'no_permission';
}

/** Its rows are those of the last read, whatever came after. */
export function isFrozen(resource: Stock): boolean {
  return isWithheld(resource) && resource.as_of !== null;
}

async function readResources({ all }: Reader, ids: readonly string[] | null) {
  const named = ids === null ? plain('1 = 1') : sql`organization_id IN ${ids}`;
  const own = ids?.includes('') ? sql`${named} OR organization_id IS NULL` : named;
  return await all(sql<
    Omit<Tables['freshness'], 'attempted_at'>
  >`SELECT organization_id, resource, state, reason, error,
      failing_since, oldest_unread_at, worker_seen_at, rows, drift_total, as_of, age_seconds
    FROM mirror.freshness WHERE ${own} ORDER BY organization_id NULLS FIRST, resource`);
}

interface Certificates extends Omit<Tables['certificate_sums'], 'state'> {
  readonly state: string;
}

/**
 * What sums of certificates leave to be distinguished: a retirement that nobody has claimed has no beneficiary, and its
 * certificate is there as soon as it has one.
 */
async function readCertificates({ all }: Reader, ids: readonly string[] | null) {
  const own = ids === null ? plain('1 = 1') : sql`organization_id IN ${ids}`;
  return await all(sql<Certificates>`WITH unclaimed AS (
      SELECT c.organization_id, count(*) AS certificates FROM mirror.certificates AS c
        JOIN mirror.retirements AS r ON r.organization_id = c.organization_id AND r.id = c.retirement_id
      WHERE c.state = 'unavailable' AND coalesce(r.beneficiary, '') = '' GROUP BY c.organization_id)
    SELECT organization_id, state, certificates FROM mirror.certificate_sums WHERE ${own}
    UNION ALL SELECT organization_id, 'unavailable', -certificates FROM unclaimed WHERE ${own}
    UNION ALL SELECT organization_id, 'unclaimed', certificates FROM unclaimed WHERE ${own}
    ORDER BY organization_id, state`);
}

function countsOf(sums: readonly Pick<Certificates, 'state' | 'certificates'>[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { state, certificates } of sums) counts.set(state, (counts.get(state) ?? 0) + certificates);
  return Object.fromEntries([...counts].filter(([, count]) => count > 0));
}

/** Certificates of all organizations by state; those of unclaimed retirements apart. */
export async function sumCertificates(reader: Reader): Promise<Record<string, number>> {
  return countsOf(await readCertificates(reader, null));
}

/** The same as they are counted, which costs next to nothing. */
export async function readCertificateCounts({ all }: Reader): Promise<Record<string, number>> {
  return countsOf(
    await all(sql`SELECT ${columns('certificate_sums', ['state', 'certificates'])}
    FROM mirror.certificate_sums ORDER BY organization_id, state`),
  );
}
