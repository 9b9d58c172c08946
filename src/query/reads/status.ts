import { FRESHNESS_STATES } from '../../engines/contract/states.js';
import type { Reader } from '../../engines/contract/reader.js';
import { NULLS_FIRST } from '../by-name.js';
import { count } from '../count.js';
import { type Findings, readFindings } from '../past/findings.js';
import { type Delayed, oldestAnnounced, readBacklog } from '../inbox/backlog.js';
import { type JobSums, readJobSums, readNewestDelivery } from '../inbox/deliveries-and-jobs.js';
import { type Cause, readCauses } from '../inbox/causes.js';
import { type RefusalSum, sumRefusals } from '../inbox/refusals.js';
import { type Life, readLife } from '../inbox/signs.js';
import { inSnapshot } from '../snapshot.js';
import { type Round, readRound } from './round.js';

/** One organization as the mirror knows it. */
export interface OrganizationStatus {
  /** Null where nobody has looked yet at what a webhook has named. */
  readonly organizationId: string | null;
  readonly installationId: string;
  readonly name: string | null;
  readonly state: string;
  readonly resources: readonly ResourceStatus[];
  readonly certificates: Readonly<Record<string, number>>;
}

export interface ResourceStatus {
  readonly resource: string;
  readonly state: string;
  readonly rows: number;
  readonly drift: number;
  readonly completeAt: string | null;
  readonly ageSeconds: number | null;
  readonly error: string | null;
}

export interface Status {
  readonly organizations: readonly OrganizationStatus[];
  /** The registry that the mirror was filled from; null before the first worker. */
  readonly registry: string | null;
  readonly worker: Life;
  readonly receiver: Life;
  readonly jobs: JobSums;
  /** Since when the oldest job waits that is due; null where none is. */
  readonly oldestDueAt: string | null;
  /** Since when the oldest delivery waits that no read has answered; null where none does. */
  readonly oldestDueDeliveryAt: string | null;
  /** What waits for longer than it may. */
  readonly delayed: readonly Delayed[];
  /** What was turned away since yesterday. */
  readonly refused: readonly RefusalSum[];
  readonly newestDeliveryAt: string | null;
  readonly setAside: number;
  /** Why the registry is not asked or does not tell. */
  readonly causes: readonly Cause[];
  /** What a round of the schedule takes; null before the first read. */
  readonly round: Round | null;
  /** What does not add up or cannot be right, as a worker counted it last. */
  readonly findings: Findings;
}

interface Owned {
  readonly organizationId: string | null;
}

interface Announced extends ResourceStatus, Owned {
  readonly announcedAt: string | null;
}

interface Certificates {
  readonly state: string;
  readonly certificates: number;
}

const DAY_MS = 86_400_000;

export async function readStatus(reader: Reader, now: number): Promise<Status> {
  return await inSnapshot(reader, async snapshot => {
    const { db } = snapshot;
    const origin = await db.selectFrom('origin').select('base_url').executeTakeFirst();
    const resources = await readResources(snapshot);
    return {
      organizations: await readOrganizations(snapshot, resources),
      registry: origin?.base_url ?? null,
      worker: await readLife(snapshot, 'work', now),
      receiver: await readLife(snapshot, 'receive', now),
      jobs: await readJobSums(snapshot, new Date(now).toISOString()),
      ...(await readOldest(snapshot, now, resources)),
      refused: await sumRefusals(snapshot, new Date(now - DAY_MS).toISOString()),
      newestDeliveryAt: await readNewestDelivery(snapshot),
      setAside: await count(db.selectFrom('inbox.deliveries').where('verdict', '=', 'set_aside')),
      causes: await readCauses(snapshot, now),
      round: await readRound(snapshot),
      findings: await readFindings(snapshot),
    };
  });
}

async function readOrganizations(
  reader: Reader,
  resources: readonly Announced[],
): Promise<OrganizationStatus[]> {
  const organizations = await readStates(reader);
  const certificates = await readCertificates(reader);
  const resourcesOf = byOwner(resources);
  const certificatesOf = byOwner(certificates);
  return troubleFirst(
    organizations.map(organization => ({
      ...organization,
      resources: ofOne(resourcesOf(organization), organization).map(
        ({ organizationId, announcedAt, ...resource }) => resource,
      ),
      certificates: countsOf(certificatesOf(organization)),
    })),
  );
}

function byOwner<Row extends Owned>(rows: readonly Row[]): (owner: Owned) => readonly Row[] {
  const owned = new Map<string | null, Row[]>();
  for (const row of rows) {
    const known = owned.get(row.organizationId);
    if (known === undefined) owned.set(row.organizationId, [row]);
    else known.push(row);
  }
  return ({ organizationId }) => owned.get(organizationId) ?? [];
}

/** Where only a webhook has named an organization there is one row, and it says the same of each. */
function ofOne<Row>(rows: readonly Row[], { organizationId }: Owned): readonly Row[] {
  return organizationId === null ? rows.slice(0, 1) : rows;
}

/** From best to worst. Nothing is expected of who was uninstalled. */
const STATES = [
  'uninstalled',
  'current',
  'suspended',
  'never_read',
  'late',
  'behind',
  'partial',
  'not_offered',
  'forbidden',
  'doubtful',
  'failing',
];

/** Of the same state the largest first. */
function troubleFirst(organizations: readonly OrganizationStatus[]): OrganizationStatus[] {
  return organizations
    .map(organization => ({ organization, worst: worstOf(organization), rows: rowsOf(organization) }))
    .toSorted((one, other) => compareStates(one.worst, other.worst) || other.rows - one.rows)
    .map(({ organization }) => organization);
}

/** The worse one first. */
export function compareStates(one: string, other: string): number {
  return STATES.indexOf(other) - STATES.indexOf(one);
}

function rowsOf({ resources }: OrganizationStatus): number {
  return resources.reduce((sum, { rows }) => sum + rows, 0);
}

/** What is withheld from us counts where rows of before stand there. */
export function worstOf({ resources }: OrganizationStatus): string {
  if (resources.length === 0) return 'never_read';
  const counted = resources.filter(resource => !isWithheld(resource) || isFrozen(resource));
  const [worst = 'current'] = counted.map(({ state }) => state).toSorted(compareStates);
  return worst;
}

/** As the organization or its registry has it. */
const WITHHELD = ['forbidden', 'not_offered'];

function isWithheld({ state }: ResourceStatus): boolean {
  return WITHHELD.includes(state);
}

/** Its rows are those of the last read, whatever came after. */
export function isFrozen(resource: ResourceStatus): boolean {
  return isWithheld(resource) && resource.completeAt !== null;
}

async function readStates({ db }: Reader) {
  return await db
    .selectFrom('coverage')
    .select([
      'organization_id as organizationId',
      'installation_id as installationId',
      'organization_name as name',
      'state',
    ])
    .orderBy('organization_name', NULLS_FIRST)
    .orderBy('organization_id', NULLS_FIRST)
    .orderBy('installation_id')
    .execute();
}

async function readResources({ db }: Reader): Promise<Announced[]> {
  return await db
    .selectFrom('freshness')
    .select([
      'organization_id as organizationId',
      'resource',
      'state',
      'rows',
      'drift',
      'complete_at as completeAt',
      'age_seconds as ageSeconds',
      'error',
      'announced_at as announcedAt',
    ])
    .orderBy('organization_id', NULLS_FIRST)
    .orderBy('resource')
    .execute();
}

/** A retirement that nobody has claimed has no beneficiary, and its certificate is there as soon as it has one. */
async function readCertificates({ db }: Reader): Promise<(Certificates & Owned)[]> {
  const sums = await db
    .selectFrom('certificate_sums')
    .select(['organization_id as organizationId', 'state', 'certificates'])
    .orderBy('organization_id')
    .orderBy('state')
    .execute();
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
  const unclaimedOf = byOwner(unclaimed);
  const claimed = sums.map(({ organizationId, state, certificates }) => {
    const unclaimedHere = unclaimedOf({ organizationId })[0]?.certificates ?? 0;
    return {
      organizationId,
      state,
      certificates: state === 'unavailable' ? certificates - unclaimedHere : certificates,
    };
  });
  return [...claimed, ...unclaimed.map(each => ({ ...each, state: 'unclaimed' }))];
}

async function readOldest(reader: Reader, now: number, resources: readonly Announced[]) {
  const due = reader.db
    .selectFrom('inbox.jobs')
    .select(eb => eb.fn.min<string | null>('run_at').as('at'))
    .where('state', '=', 'ready')
    .where('run_at', '<=', new Date(now).toISOString());
  const job = await due.executeTakeFirst();
  const { unread, delayed } = await readBacklog(reader, now, oldestAnnounced(resources));
  return { oldestDueAt: job?.at ?? null, oldestDueDeliveryAt: unread?.since ?? null, delayed };
}

function countsOf(rows: readonly Certificates[]): Record<string, number> {
  return Object.fromEntries(
    rows.flatMap(({ state, certificates }) => (certificates > 0 ? [[state, certificates]] : [])),
  );
}

/** Certificates of all organizations by state. */
export async function readCertificateCounts({ db }: Reader): Promise<Record<string, number>> {
  const counts = await db
    .selectFrom('certificate_sums')
    .groupBy('state')
    .select(eb => ['state', eb.fn.sum<number>('certificates').as('certificates')])
    .orderBy('state')
    .execute();
  return Object.fromEntries(counts.map(({ state, certificates }) => [state, certificates]));
}

export interface ReadAge {
  readonly state: string;
  readonly resources: number;
  /** Of the oldest last complete read; null where none was complete. */
  readonly ageSeconds: number | null;
}

/** How many resources are in each state that there is, and how old the oldest read of them is. */
export async function readAges({ db }: Reader): Promise<ReadAge[]> {
  const found = await db
    .selectFrom('freshness')
    .groupBy('state')
    .select(eb => [
      'state',
      eb.fn.countAll<number>().as('resources'),
      eb.fn.max('age_seconds').as('ageSeconds'),
    ])
    .execute();
  return FRESHNESS_STATES.map(
    state => found.find(row => row.state === state) ?? { state, resources: 0, ageSeconds: null },
  );
}
