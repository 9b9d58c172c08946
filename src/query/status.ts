import { FRESHNESS_STATES } from '../engines/contract/mirror-tables.js';
import type { Sqlite } from '../engines/sqlite/open.js';
import { NEWEST_DELIVERY } from './inbox.js';
import { type RefusalSum, sumRefusals } from './inbox.js';
import { type Life, readLife } from './signs.js';

/** One organization as the mirror knows it. */
export interface OrganizationStatus {
  readonly organizationId: string;
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
  /** What was turned away since yesterday. */
  readonly refused: readonly RefusalSum[];
  readonly newestDeliveryAt: string | null;
  readonly setAside: number;
}

/** Due jobs may start now; planned ones later. Done ones are not counted: there may be a million. */
export interface JobSums {
  readonly due: number;
  readonly planned: number;
  readonly claimed: number;
  readonly parked: number;
  readonly buried: number;
}

interface Owned {
  readonly organizationId: string;
}

const ORGANIZATIONS = `
  SELECT i.organization_id AS organizationId, o.full_name AS name,
    CASE WHEN max(i.state = 'active') THEN 'active' WHEN max(i.state = 'suspended') THEN 'suspended' ELSE 'uninstalled' END AS state
  FROM installations AS i LEFT JOIN organizations AS o ON o.id = i.organization_id
  WHERE i.organization_id IS NOT NULL
  GROUP BY i.organization_id ORDER BY o.full_name, i.organization_id`;

const RESOURCES = `
  SELECT organization_id AS organizationId, resource, state, rows, drift,
    complete_at AS completeAt, age_seconds AS ageSeconds, error
  FROM freshness ORDER BY organization_id, resource`;

/** A retirement that nobody has claimed has no beneficiary, and its certificate is there as soon as it has one. */
const CERTIFICATES = `
  WITH unclaimed AS (
    SELECT c.organization_id, count(*) AS certificates
    FROM certificates AS c
    JOIN retirements AS r ON r.organization_id = c.organization_id AND r.id = c.retirement_id
    WHERE c.state = 'unavailable' AND coalesce(r.beneficiary, '') = ''
    GROUP BY c.organization_id
  )
  SELECT s.organization_id AS organizationId, s.state, s.certificates - coalesce(u.certificates, 0) AS certificates
  FROM certificate_sums AS s
  LEFT JOIN unclaimed AS u ON u.organization_id = s.organization_id AND s.state = 'unavailable'
  UNION ALL
  SELECT organization_id, 'unclaimed', certificates FROM unclaimed`;

/** Each state by an index of its own. */
const JOBS = `SELECT
  (SELECT count(*) FROM inbox.jobs WHERE state = 'ready' AND run_at <= @now) AS due,
  (SELECT count(*) FROM inbox.jobs WHERE state = 'ready' AND run_at > @now) AS planned,
  (SELECT count(*) FROM inbox.jobs WHERE state = 'claimed') AS claimed,
  (SELECT count(*) FROM inbox.jobs WHERE state = 'parked') AS parked,
  (SELECT count(*) FROM inbox.jobs WHERE state = 'buried') AS buried`;

/** Where no worker watches, nobody tells of what is announced: then the jobs do. */
const OLDEST = `SELECT
  (SELECT min(run_at) FROM inbox.jobs WHERE state = 'ready' AND run_at <= @now) AS due,
  (SELECT min(at) FROM (
    SELECT min(run_at) AS at FROM inbox.jobs WHERE state = 'ready' AND run_at <= @now AND trigger = 'delivery'
    UNION ALL SELECT min(announced_at) FROM freshness
  )) AS delivery`;

const DELIVERIES = `
  SELECT (${NEWEST_DELIVERY}) AS newest,
    (SELECT count(*) FROM inbox.deliveries WHERE verdict = 'set_aside') AS setAside`;

const DAY_MS = 86_400_000;

export function readStatus(db: Sqlite, now: number): Status {
  const organizations = db
    .prepare<[], Omit<OrganizationStatus, 'resources' | 'certificates'>>(ORGANIZATIONS)
    .all();
  const resources = db.prepare<[], ResourceStatus & Owned>(RESOURCES).all();
  const certificates = db.prepare<[], { state: string; certificates: number } & Owned>(CERTIFICATES).all();
  const at = { now: new Date(now).toISOString() };
  const jobs = db.prepare<[object], JobSums>(JOBS).get(at);
  const oldest = db.prepare<[object], { due: string | null; delivery: string | null }>(OLDEST).get(at);
  const deliveries = db.prepare<[], { newest: string | null; setAside: number }>(DELIVERIES).get();
  return {
    organizations: organizations.map(organization => {
      const own = (row: Owned) => row.organizationId === organization.organizationId;
      return {
        ...organization,
        resources: resources.filter(own).map(({ organizationId, ...resource }) => resource),
        certificates: countsOf(certificates.filter(own)),
      };
    }),
    registry: db.prepare<[], string>('SELECT base_url FROM origin').pluck().get() ?? null,
    worker: readLife(db, 'work', now),
    receiver: readLife(db, 'receive', now),
    jobs: jobs ?? { due: 0, planned: 0, claimed: 0, parked: 0, buried: 0 },
    oldestDueAt: oldest?.due ?? null,
    oldestDueDeliveryAt: oldest?.delivery ?? null,
    refused: sumRefusals(db, new Date(now - DAY_MS).toISOString()),
    newestDeliveryAt: deliveries?.newest ?? null,
    setAside: deliveries?.setAside ?? 0,
  };
}

function countsOf(rows: readonly { state: string; certificates: number }[]): Record<string, number> {
  return Object.fromEntries(
    rows.flatMap(({ state, certificates }) => (certificates > 0 ? [[state, certificates]] : [])),
  );
}

/** Certificates of all organizations by state. */
export function readCertificateCounts(db: Sqlite): Record<string, number> {
  const counts = db
    .prepare<[], { state: string; certificates: number }>(
      'SELECT state, sum(certificates) AS certificates FROM certificate_sums GROUP BY state',
    )
    .all();
  return Object.fromEntries(counts.map(({ state, certificates }) => [state, certificates]));
}

export interface ReadAge {
  readonly state: string;
  readonly resources: number;
  /** Of the oldest last complete read; null where none was complete. */
  readonly ageSeconds: number | null;
}

/** How many resources are in each state that there is, and how old the oldest read of them is. */
export function readAges(db: Sqlite): ReadAge[] {
  const found = db
    .prepare<[], ReadAge>(
      `SELECT state, count(*) AS resources, max(age_seconds) AS ageSeconds FROM freshness GROUP BY state`,
    )
    .all();
  return FRESHNESS_STATES.map(
    state => found.find(row => row.state === state) ?? { state, resources: 0, ageSeconds: null },
  );
}
