import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createLabelLimiter, replaceUnknownValue } from './metric-labels.js';

const PREFIX = 'carbon_mirror_';

/** Heartbeats and waiting jobs at one instant. Instants are epoch milliseconds. */
interface InboxSample {
  /** When the sample was taken. */
  readonly at: number;
  /** The latest heartbeat of each role. */
  readonly seenAt: Readonly<Record<string, number>>;
  /** Since when the oldest due job waits; null if no job is due. */
  readonly oldestDueAt: number | null;
}

type CountByState = Readonly<Record<string, number>>;

/** The part of a write-ahead log that a reader keeps from being moved into the database file. */
interface HeldWal {
  readonly unmovedBytes: number;
  /** For how long the reader has held it back; 0 if none does. */
  readonly heldMs: number;
}

interface DiskSample {
  readonly freeBytes: number;
  readonly reserveBytes: number;
  /** True while less is free than the reserve, so that nothing is read. */
  readonly paused: boolean;
}

interface FindingTotal {
  readonly finding: string;
  readonly rows: number;
}

/** How many resources have one freshness state and reason, and how old the oldest of their reads is. */
interface FreshnessCount {
  readonly state: string;
  readonly reason: string | null;
  readonly resources: number;
  readonly failing: number;
  readonly age_seconds: number | null;
}

/** Numbers of subscriptions and of their events. */
interface EventTotals {
  readonly subscriptions: CountByState;
  readonly heldOrganizations: number;
  readonly delivered: number;
  readonly refused: number;
}

export type Metrics = ReturnType<typeof createMetrics>;

/** Creates the Prometheus metrics of a process. Events that are not in `knownEvents` are counted as "other". */
export function createMetrics(knownEvents: readonly string[]) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: PREFIX });

  const createCounter = <L extends string>(name: string, help: string, ...labelNames: L[]): Counter<L> =>
    new Counter({ name: PREFIX + name, help, labelNames, registers });
  const createGauge = <L extends string>(name: string, help: string, ...labelNames: L[]): Gauge<L> =>
    new Gauge({ name: PREFIX + name, help, labelNames, registers });
  const createHistogram = <L extends string>(
    name: string,
    help: string,
    buckets: number[],
    ...labelNames: L[]
  ) => new Histogram({ name: PREFIX + name, help, buckets, labelNames, registers });

  const deliveries = createCounter(
    'deliveries_total',
    'Deliveries stored, by verdict and event',
    'verdict',
    'event',
  );
  const deliveriesBySecret = createCounter(
    'deliveries_by_secret_total',
    'Deliveries stored, by the position of the webhook secret that verified them',
    'secret',
  );
  const duplicates = createCounter(
    'duplicate_deliveries_total',
    'Deliveries that repeat one whose read is still waiting',
  );
  const rejectedWebhooks = createCounter(
    'rejected_webhooks_total',
    'Webhooks rejected by the receiver, by HTTP status and reason',
    'status',
    'reason',
  );
  const apiRefusals = createCounter(
    'api_refusals_total',
    'Requests to the HTTP API without a valid token, by reason',
    'reason',
  );
  const acceptDurations = createHistogram(
    'accept_duration_seconds',
    'Time from the end of a body to the answer 202',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
  );
  const commitSizes = createHistogram(
    'commit_deliveries',
    'Deliveries that were stored by one commit',
    [1, 2, 4, 8, 16, 32, 64, 128, 256],
  );
  const subscriptions = createGauge('subscriptions', 'Subscriptions of events, by state', 'state');
  const heldOrganizations = createGauge(
    'subscription_held_organizations',
    'Organizations whose events wait because a subscriber refused one of them',
  );
  const deliveredEvents = createGauge(
    'events_delivered',
    'Events that all subscriptions have received so far',
  );
  const refusedEvents = createGauge('events_refused', 'Attempts to deliver events that failed so far');
  const walSize = createGauge('database_wal_bytes', 'Size of the write-ahead log', 'database');
  const diskFree = createGauge('disk_free_bytes', 'Free space of the disk that holds the databases');
  const diskReserve = createGauge('disk_reserve_bytes', 'Free space that is kept for deliveries');
  const readsPaused = createGauge(
    'reads_paused',
    '1 while less disk space is free than the reserve, so that nothing is read',
  );
  const walUnmoved = createGauge(
    'database_wal_unmoved_bytes',
    'Part of the write-ahead log that is not yet moved into the database file',
    'database',
  );
  const walHeld = createGauge(
    'database_wal_held_seconds',
    'How long a running reader has held the write-ahead log back; 0 if none does',
    'database',
  );
  const jobs = createGauge('jobs', 'Jobs by state', 'state');
  const jobRuns = createCounter('job_runs_total', 'Jobs run, by outcome', 'outcome');
  const registryRequests = createCounter(
    'registry_requests_total',
    'Calls to the registry, by route and HTTP status',
    'route',
    'status',
  );
  const syncDurations = createHistogram(
    'sync_duration_seconds',
    'Duration of reads of one resource of one organization',
    [0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600],
    'resource',
    'state',
  );
  const rows = createCounter('rows_total', 'Rows written to the mirror', 'resource', 'change');
  const drift = createCounter('drift_rows_total', 'Changes that no delivery announced', 'resource');
  const certificates = createGauge('certificates', 'Certificates by state', 'state');
  const findings = createGauge(
    'findings',
    'Rows that do not add up or cannot be right, as of the last count',
    'finding',
  );
  const heartbeats = createGauge(
    'last_heartbeat_timestamp_seconds',
    'When a process of the role last wrote a heartbeat',
    'role',
  );
  const oldestDueJob = createGauge(
    'oldest_due_job_seconds',
    'How long the oldest due job has waited; 0 if no job is due',
  );
  const resources = createGauge(
    'resources',
    'Resources of all organizations by freshness',
    'state',
    'reason',
  );
  const failingResources = createGauge(
    'resources_failing',
    'Resources of all organizations whose latest read failed',
  );
  const oldestRead = createGauge(
    'oldest_read_seconds',
    'Age of the oldest last complete read among the resources of a freshness; 0 if there is none',
    'state',
    'reason',
  );

  // Limits the values of each label, whatever the registry or a stranger sends.
  const limitLabel = createLabelLimiter();

  /** Sets a gauge to the number in `counts` for each state. Removes all other states from the gauge. */
  function replaceCounts(gauge: Gauge<'state'>, counts: CountByState): void {
    gauge.reset();
    for (const [state, count] of Object.entries(counts))
      gauge.set({ state: limitLabel('state', state) }, count);
  }

  return {
    /** Counts a stored delivery. `event` is null if the delivery names none. */
    countDelivery: (verdict: string, event: string | null, secretIndex: number): void => {
      const eventLabel = event === null ? 'none' : replaceUnknownValue(knownEvents, event);
      deliveries.inc({ verdict: limitLabel('verdict', verdict), event: eventLabel });
      deliveriesBySecret.inc({ secret: limitLabel('secret', String(secretIndex)) });
    },
    countDuplicate: (): void => duplicates.inc(),
    countRejections: (status: number, reason: string, count = 1): void =>
      rejectedWebhooks.inc({ status: getStatusLabel(status), reason: limitLabel('reason', reason) }, count),
    countApiRefusal: (reason: string): void => apiRefusals.inc({ reason: limitLabel('reason', reason) }),
    observeAcceptDuration: (seconds: number): void => acceptDurations.observe(seconds),
    /** Records how many deliveries one commit stored. */
    observeCommitSize: (count: number): void => commitSizes.observe(count),
    setWalBytes: (database: string, bytes: number): void =>
      walSize.set({ database: limitLabel('database', database) }, bytes),
    setHeldWal: (database: string, { unmovedBytes, heldMs }: HeldWal): void => {
      const labels = { database: limitLabel('database', database) };
      walUnmoved.set(labels, unmovedBytes);
      walHeld.set(labels, heldMs / 1000);
    },
    setDisk: ({ freeBytes, reserveBytes, paused }: DiskSample): void => {
      diskFree.set(freeBytes);
      diskReserve.set(reserveBytes);
      readsPaused.set(paused ? 1 : 0);
    },
    setJobCounts: (counts: CountByState): void => replaceCounts(jobs, counts),
    countJobRun: (outcome: string): void =>
      jobRuns.inc({ outcome: limitLabel('outcome', getOutcomeKind(outcome)) }),
    /** `route` is a template such as `/app/installations/:id`. `status` is null if no response came. */
    countRegistryRequest: (route: string, status: number | null): void =>
      registryRequests.inc({
        route: limitLabel('route', route),
        status: status === null ? 'none' : getStatusLabel(status),
      }),
    /** Records how long one read of a resource took, and the state in which it ended. */
    observeSync: (resource: string, state: string, seconds: number): void =>
      syncDurations.observe(
        { resource: limitLabel('resource', resource), state: limitLabel('state', state) },
        seconds,
      ),
    countRows: (resource: string, change: 'added' | 'changed' | 'removed', count: number): void =>
      rows.inc({ resource: limitLabel('resource', resource), change }, count),
    countDrift: (resource: string, count: number): void =>
      drift.inc({ resource: limitLabel('resource', resource) }, count),
    setInboxStatus: ({ at, seenAt, oldestDueAt }: InboxSample): void => {
      for (const [role, heartbeatAt] of Object.entries(seenAt)) heartbeats.set({ role }, heartbeatAt / 1000);
      oldestDueJob.set(oldestDueAt === null ? 0 : Math.max(0, at - oldestDueAt) / 1000);
    },
    setFreshness: (counts: readonly FreshnessCount[]): void => {
      failingResources.set(counts.reduce((sum, { failing }) => sum + failing, 0));
      for (const { state, reason, age_seconds: ageSeconds, resources: count } of counts) {
        const labels = {
          state: limitLabel('state', state),
          reason: limitLabel('reason', reason ?? 'none'),
        };
        resources.set(labels, count);
        oldestRead.set(labels, Math.max(0, ageSeconds ?? 0));
      }
    },
    setCertificateCounts: (counts: CountByState): void => replaceCounts(certificates, counts),
    setFindingCounts: (counts: readonly FindingTotal[]): void => {
      for (const { finding, rows: count } of counts)
        findings.set({ finding: limitLabel('finding', finding) }, count);
    },
    setEventCounts: (counts: EventTotals): void => {
      replaceCounts(subscriptions, counts.subscriptions);
      heldOrganizations.set(counts.heldOrganizations);
      deliveredEvents.set(counts.delivered);
      refusedEvents.set(counts.refused);
    },
    /** Renders all metrics in the Prometheus text format. */
    renderText: (): Promise<string> => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** Returns the kind of a job outcome, such as "read in part", without details. */
function getOutcomeKind(outcome: string): string {
  return /^\S*( in part)?/.exec(outcome)?.[0] ?? '';
}

/** Returns an HTTP status as text, or "other" for an invalid status. */
function getStatusLabel(status: number): string {
  return Number.isInteger(status) && status >= 100 && status <= 599 ? String(status) : 'other';
}
