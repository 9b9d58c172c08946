import type { Sqlite } from '../database/open.js';

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
  readonly jobs: Readonly<Record<string, number>>;
  readonly oldestWaitingAt: string | null;
  readonly newestDeliveryAt: string | null;
  readonly setAside: number;
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

const CERTIFICATES =
  'SELECT organization_id AS organizationId, state, certificates FROM certificate_sums WHERE certificates > 0';

/** Each state by an index of its own: done jobs may be a million, and none of them is looked at. */
const WAITING = ['ready', 'claimed', 'parked', 'buried']
  .map(
    state => `SELECT '${state}' AS state, count(*) AS jobs, min(run_at) AS oldest
      FROM inbox.jobs WHERE state = '${state}' HAVING count(*) > 0`,
  )
  .join(' UNION ALL ');

const DELIVERIES = `
  SELECT (SELECT max(received_at) FROM inbox.deliveries) AS newest,
    (SELECT count(*) FROM inbox.deliveries WHERE verdict = 'set_aside') AS setAside`;

export function readStatus(db: Sqlite): Status {
  const organizations = db
    .prepare<[], Omit<OrganizationStatus, 'resources' | 'certificates'>>(ORGANIZATIONS)
    .all();
  const resources = db.prepare<[], ResourceStatus & Owned>(RESOURCES).all();
  const certificates = db.prepare<[], { state: string; certificates: number } & Owned>(CERTIFICATES).all();
  const jobs = db.prepare<[], { state: string; jobs: number; oldest: string | null }>(WAITING).all();
  const deliveries = db.prepare<[], { newest: string | null; setAside: number }>(DELIVERIES).get();
  return {
    organizations: organizations.map(organization => {
      const own = (row: Owned) => row.organizationId === organization.organizationId;
      return {
        ...organization,
        resources: resources.filter(own).map(({ organizationId, ...resource }) => resource),
        certificates: Object.fromEntries(certificates.filter(own).map(row => [row.state, row.certificates])),
      };
    }),
    jobs: Object.fromEntries(jobs.map(row => [row.state, row.jobs])),
    oldestWaitingAt: jobs.find(row => row.state === 'ready')?.oldest ?? null,
    newestDeliveryAt: deliveries?.newest ?? null,
    setAside: deliveries?.setAside ?? 0,
  };
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
