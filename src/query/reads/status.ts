import type { Reader } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import { type Known, readKnown } from '../coverage.js';
import { compareStandings, FRESH, type Standing, WAITING } from '../freshness.js';
import { readFindings } from '../history/findings.js';
import { readActivity } from '../inbox/health.js';
import { readOrigin } from '../names.js';
import { byOwner } from '../owners.js';
import { columns, plain, sql } from '../sql.js';
import { ALIKE, BY_STANDING, type FreshnessSum } from './freshness.js';

/** One organization as the mirror knows it. */
export interface OrganizationStatus extends Known {
  readonly resources: readonly ResourceStatus[];
  readonly certificates: Readonly<Record<string, number>>;
}

/** Of one resource, or of several that stand alike. */
type Stock = Standing & Pick<Tables['freshness'], 'rows' | 'as_of'>;
type ResourceStatus = Omit<Tables['freshness'], 'organization_id' | 'attempted_at'>;

export type Status = Awaited<ReturnType<typeof readStatus>>;

export async function readStatus(reader: Reader, now: number) {
  return await reader.inSnapshot(async snapshot => {
    return {
      organizations: await readOrganizations(snapshot, Infinity),
      registry: (await readOrigin(snapshot))?.base_url ?? null,
      ...(await readActivity(snapshot, now)),
      findings: await readFindings(snapshot),
    };
  });
}

/** At most so many, trouble first. Of the others no more is read than what places them. */
export async function readOrganizations(reader: Reader, most: number): Promise<OrganizationStatus[]> {
  const known = await readKnown(reader, null);
  if (known.length <= most) return troubleFirst(await describe(reader, known, null));
  const standings = byOwner(await readStandings(reader));
  const first = troubleFirst(known.map(each => ({ ...each, resources: standings(each) }))).slice(0, most);
  return await describe(reader, first, first.map(idOf));
}

/** Null where it is not known. */
export async function readOrganization(reader: Reader, organizationId: string) {
  return await reader.inSnapshot(async snapshot => {
    const known = await readKnown(snapshot, organizationId);
    return (await describe(snapshot, known, [organizationId]))[0] ?? null;
  });
}

/** One stands for all that nobody has looked at yet. */
function idOf({ organization_id: id }: Known): string {
  return id ?? '';
}

async function describe(reader: Reader, known: readonly Known[], ids: readonly string[] | null) {
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

/** Of the same state the largest first. */
function troubleFirst<Organization extends Judged>(organizations: readonly Organization[]): Organization[] {
  return organizations
    .map(organization => ({ organization, worst: worstOf(organization), rows: rowsOf(organization) }))
    .toSorted((one, other) => compareStandings(one.worst, other.worst) || other.rows - one.rows)
    .map(({ organization }) => organization);
}

function rowsOf({ resources }: Judged): number {
  return resources.reduce((sum, { rows }) => sum + rows, 0);
}

/** What is withheld from us counts where rows of before stand there. */
export function worstOf({ resources }: Judged): Standing {
  if (resources.length === 0) return WAITING;
  const counted = resources.filter(resource => !isWithheld(resource) || isFrozen(resource));
  const [worst = FRESH] = counted.toSorted(compareStandings);
  return worst;
}

/** As the organization or its registry has it. */
function isWithheld({ state, reason }: Standing): boolean {
  return state === 'not_offered' || reason === 'no_permission';
}

/** Its rows are those of the last read, whatever came after. */
export function isFrozen(resource: Stock): boolean {
  return isWithheld(resource) && resource.as_of !== null;
}

/** The resources of each organization that stand alike, as one. */
async function readStandings({ all }: Reader) {
  return await all(sql<FreshnessSum & Pick<Known, 'organization_id'>>`SELECT organization_id, ${ALIKE}
    FROM mirror.freshness GROUP BY organization_id, ${BY_STANDING}`);
}

async function readResources({ all }: Reader, ids: readonly string[] | null) {
  const nobodys = plain(ids?.includes('') ? 'organization_id IS NULL' : '1 = 0');
  const own = ids === null ? plain('1 = 1') : sql`organization_id IN ${ids} OR ${nobodys}`;
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
