import type { Reader } from '../../store/contract/reader.js';
import { inSnapshot, NULLS_FIRST } from '../sql.js';
import { type Known, readKnown } from '../coverage.js';
import { compareStandings, FRESH, type Standing, TOLD, type Told, WAITING } from '../freshness.js';
import { readActivity } from '../inbox/health.js';
import { readOrigin } from '../names.js';
import { readFindings } from '../history/findings.js';
import { alike } from './freshness.js';

/** One organization as the mirror knows it. */
export interface OrganizationStatus extends Known {
  readonly resources: readonly ResourceStatus[];
  readonly certificates: Readonly<Record<string, number>>;
}

/** Of one resource, or of several that stand alike. */
interface Stock extends Standing {
  readonly rows: number;
  readonly asOf: string | null;
}

interface ResourceStatus extends Stock, Told {
  readonly resource: string;
  readonly driftTotal: number;
  readonly ageSeconds: number | null;
}

export type Status = Awaited<ReturnType<typeof readStatus>>;

interface Owned {
  readonly organizationId: string | null;
}

interface Certificates {
  readonly state: string;
  readonly certificates: number;
}

export async function readStatus(reader: Reader, now: number) {
  return await inSnapshot(reader, async snapshot => {
    return {
      organizations: await readOrganizations(snapshot, Infinity),
      registry: (await readOrigin(snapshot))?.baseUrl ?? null,
      ...(await readActivity(snapshot, now)),
      findings: await readFindings(snapshot),
    };
  });
}

/** At most so many, trouble first. Of the others no more is read than what places them. */
export async function readOrganizations(reader: Reader, most: number): Promise<OrganizationStatus[]> {
  const known = await readKnown(reader, null);
  if (known.length <= most) return troubleFirst(await describe(reader, known, null));
  const first = troubleFirst(withResources(known, await readStandings(reader))).slice(0, most);
  return await describe(reader, first, idsOf(first));
}

/** Null where it is not known. */
export async function readOrganization(
  reader: Reader,
  organizationId: string,
): Promise<OrganizationStatus | null> {
  return await inSnapshot(reader, async snapshot => {
    const known = await readKnown(snapshot, organizationId);
    return (await describe(snapshot, known, [organizationId]))[0] ?? null;
  });
}

function idsOf(organizations: readonly Owned[]): string[] {
  return organizations.map(({ organizationId }) => organizationId ?? NOBODY);
}

/** Stands for all that nobody has looked at yet. */
const NOBODY = '';

async function describe(
  reader: Reader,
  organizations: readonly Known[],
  ids: readonly string[] | null,
): Promise<OrganizationStatus[]> {
  const certificatesOf = byOwner(await readCertificates(reader, ids));
  return withResources(organizations, await readResources(reader, ids)).map(organization => ({
    ...organization,
    certificates: countsOf(certificatesOf(organization)),
  }));
}

function withResources<Resource extends Owned>(organizations: readonly Known[], rows: readonly Resource[]) {
  const resourcesOf = byOwner(rows);
  return organizations.map(organization => ({
    ...organization,
    resources: ofOne(resourcesOf(organization), organization),
  }));
}

/** What is of the same owner. */
export function byOwner<Row extends Owned>(
  rows: readonly Row[],
): (owner: Owned) => readonly Omit<Row, 'organizationId'>[] {
  const owned = new Map<string | null, Omit<Row, 'organizationId'>[]>();
  for (const { organizationId, ...row } of rows) {
    const known = owned.get(organizationId);
    if (known === undefined) owned.set(organizationId, [row]);
    else known.push(row);
  }
  return ({ organizationId }) => owned.get(organizationId) ?? [];
}

/** Where only a webhook has named an organization there is one row, and it says the same of each. */
function ofOne<Row>(rows: readonly Row[], { organizationId }: Owned): readonly Row[] {
  return organizationId === null ? rows.slice(0, 1) : rows;
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
  return isWithheld(resource) && resource.asOf !== null;
}

/** The resources of each organization that stand alike, as one. */
async function readStandings(reader: Reader): Promise<(Stock & Owned)[]> {
  return await alike(reader).groupBy('organization_id').select('organization_id as organizationId').execute();
}

async function readResources(
  { db }: Reader,
  ids: readonly string[] | null,
): Promise<(ResourceStatus & Owned)[]> {
  const asked = db
    .selectFrom('freshness')
    .select([
      'organization_id as organizationId',
      'resource',
      ...TOLD,
      'rows',
      'drift_total as driftTotal',
      'as_of as asOf',
      'age_seconds as ageSeconds',
    ])
    .orderBy('organization_id', NULLS_FIRST)
    .orderBy('resource');
  return await (ids === null
    ? asked
    : asked.where(eb => eb(eb.fn.coalesce('organization_id', eb.val(NOBODY)), 'in', ids))
  ).execute();
}

async function readCertificates(
  reader: Reader,
  ids: readonly string[] | null,
): Promise<(Certificates & Owned)[]> {
  return [...(await readCounted(reader, ids)), ...(await readUnclaimed(reader))];
}

async function readCounted({ db }: Reader, ids: readonly string[] | null): Promise<(Certificates & Owned)[]> {
  const sums = db
    .selectFrom('certificate_sums')
    .select(['organization_id as organizationId', 'state', 'certificates'])
    .orderBy('organization_id')
    .orderBy('state');
  return await (ids === null ? sums : sums.where('organization_id', 'in', ids)).execute();
}

/**
 * What sums of certificates leave to be distinguished: a retirement that nobody has claimed has no beneficiary, and its
 * certificate is there as soon as it has one.
 */
async function readUnclaimed({ db }: Reader): Promise<(Certificates & Owned)[]> {
  const unclaimed = await db
    .selectFrom('certificates as c')
    .innerJoin('retirements as r', on =>
      on.onRef('r.organization_id', '=', 'c.organization_id').onRef('r.id', '=', 'c.retirement_id'),
    )
    .where('c.state', '=', 'unavailable')
    .where(eb => eb(eb.fn.coalesce('r.beneficiary', eb.val('')), '=', ''))
    .groupBy('c.organization_id')
    .select(eb => ['c.organization_id as organizationId', eb.fn.countAll<number>().as('certificates')])
    .execute();
  return unclaimed.flatMap(({ organizationId, certificates }) => [
    { organizationId, state: 'unavailable', certificates: -certificates },
    { organizationId, state: 'unclaimed', certificates },
  ]);
}

function countsOf(sums: readonly Certificates[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const { state, certificates } of sums) counts.set(state, (counts.get(state) ?? 0) + certificates);
  return Object.fromEntries([...counts].filter(([, count]) => count > 0));
}

/** Certificates of all organizations by state; those of unclaimed retirements apart. */
export async function sumCertificates(reader: Reader): Promise<Record<string, number>> {
  return countsOf(await readCertificates(reader, null));
}

/** The same as they are counted, which costs next to nothing. */
export async function readCertificateCounts(reader: Reader): Promise<Record<string, number>> {
  return countsOf(await readCounted(reader, null));
}
