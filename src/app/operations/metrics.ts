import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { createLabelLimiter, replaceUnknownValue } from './labels.js';

const PREFIX = 'carbon_mirror_';

interface Pulse {
  /** When this was told. */
  readonly at: number;
  readonly seenAt: Readonly<Record<string, number>>;
  readonly oldestDueAt: number | null;
}

type Counts = Readonly<Record<string, number>>;

interface Held {
  readonly unmovedBytes: number;
  readonly heldMs: number;
}

interface DiskSeen {
  readonly freeBytes: number;
  readonly reserveBytes: number;
  /** The reserve is begun, and nothing is read. */
  readonly paused: boolean;
}

interface Finding {
  readonly finding: string;
  readonly rows: number;
}

interface ReadAge {
  readonly state: string;
  readonly reason: string | null;
  readonly resources: number;
  readonly failing: number;
  readonly age_seconds: number | null;
}

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * What this program counts. Every label has few values, whatever the registry or a stranger sends. `events` are the names
 * with a count of their own. What is counted with 0 at the start a monitor sees from the first on.
 */
export function createMetrics(events: readonly string[]) {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, prefix: PREFIX });

  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]): Counter<L> =>
    new Counter({ name: PREFIX + name, help, labelNames, registers });
  const gauge = <L extends string>(name: string, help: string, ...labelNames: L[]): Gauge<L> =>
    new Gauge({ name: PREFIX + name, help, labelNames, registers });
  const histogram = <L extends string>(name: string, help: string, buckets: number[], ...labelNames: L[]) =>
    new Histogram({ name: PREFIX + name, help, buckets, labelNames, registers });

  const deliveries = counter(
    'deliveries_total',
    'Deliveries stored, by verdict and event',
    'verdict',
    'event',
  );
  const secrets = counter(
    'deliveries_by_secret_total',
    'Deliveries by the webhook secret that fits',
    'secret',
  );
  const duplicates = counter(
    'duplicate_deliveries_total',
    'Deliveries that duplicate one whose read was still waited for',
  );
  const rejectedWebhooks = counter(
    'rejected_webhooks_total',
    'Webhooks that the receiver rejected, by answer and reason',
    'status',
    'reason',
  );
  const accepts = histogram(
    'accept_duration_seconds',
    'From the end of the body to the answer 202',
    [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1],
  );
  const commits = histogram(
    'commit_deliveries',
    'Deliveries that shared one commit',
    [1, 2, 4, 8, 16, 32, 64, 128, 256],
  );
  const wal = gauge('database_wal_bytes', 'Size of the write-ahead log', 'database');
  const free = gauge('disk_free_bytes', 'Free space of the disk that holds the databases');
  const reserve = gauge('disk_reserve_bytes', 'Free space that is kept for deliveries');
  const paused = gauge('reads_paused', '1 while less is free than the reserve: nothing is read');
  const unmoved = gauge(
    'database_wal_unmoved_bytes',
    'Part of the write-ahead log that is not moved to the file yet',
    'database',
  );
  const held = gauge(
    'database_wal_held_seconds',
    'For how long a reader that has not ended has held the log back; 0 where none does',
    'database',
  );
  const jobs = gauge('jobs', 'Jobs by state', 'state');
  const runs = counter('job_runs_total', 'Jobs run, by outcome', 'outcome');
  const requests = counter('registry_requests_total', 'Calls to the registry', 'route', 'status');
  const syncs = histogram(
    'sync_duration_seconds',
    'Reads of one resource of one organization',
    [0.05, 0.1, 0.5, 1, 5, 15, 60, 300, 900, 3600],
    'resource',
    'state',
  );
  const rows = counter('rows_total', 'Rows written to the mirror', 'resource', 'change');
  const drift = counter('drift_rows_total', 'Changes that no delivery announced', 'resource');
  const certificates = gauge('certificates', 'Certificates by state', 'state');
  const findings = gauge(
    'findings',
    'Rows that do not add up or cannot be right, as they were counted last',
    'finding',
  );

  const heartbeats = gauge(
    'last_heartbeat_timestamp_seconds',
    'When a process of the role last wrote a heartbeat',
    'role',
  );
  const oldestDue = gauge(
    'oldest_due_job_seconds',
    'How long the oldest job waits that may start; 0 where none',
  );
  const resources = gauge('resources', 'Resources of all organizations by freshness', 'state', 'reason');
  const failing = gauge('resources_failing', 'Resources of all organizations whose latest read failed');
  const oldestRead = gauge(
    'oldest_read_seconds',
    'Age of the oldest last complete read among the resources of a freshness; 0 where none',
    'state',
    'reason',
  );

  const few = createLabelLimiter();

  /** States that are no longer there count 0: nothing of an earlier look stays. */
  function setAll(states: Gauge<'state'>, counts: Counts): void {
    states.reset();
    for (const [state, count] of Object.entries(counts)) states.set({ state: few('state', state) }, count);
  }

  return {
    countDelivery: (given: string, event: string | null, secretIndex: number): void => {
      const name = event === null ? 'none' : replaceUnknownValue(events, event);
      deliveries.inc({ verdict: few('verdict', given), event: name });
      secrets.inc({ secret: few('secret', String(secretIndex)) });
    },
    /** One that is counted in the row of the same text. */
    countDuplicate: () => duplicates.inc(),
    countRejections: (status: number, given: string, count = 1) =>
      rejectedWebhooks.inc({ status: statusLabel(status), reason: few('reason', given) }, count),
    observeAcceptDuration: (seconds: number) => accepts.observe(seconds),
    observeCommitSize: (count: number) => commits.observe(count),
    setWalBytes: (name: string, bytes: number) => wal.set({ database: few('database', name) }, bytes),
    /** What a reader that has not ended keeps from being moved out of the log, and for how long. */
    setHeldWal: (name: string, { unmovedBytes, heldMs }: Held): void => {
      unmoved.set({ database: few('database', name) }, unmovedBytes);
      held.set({ database: few('database', name) }, heldMs / 1000);
    },
    setDisk: (seen: DiskSeen): void => {
      free.set(seen.freeBytes);
      reserve.set(seen.reserveBytes);
      paused.set(seen.paused ? 1 : 0);
    },
    setJobCounts: (counts: Counts) => setAll(jobs, counts),
    countJobRun: (outcome: string) => runs.inc({ outcome: few('outcome', beginningOf(outcome)) }),
    /** A template such as `/app/installations/:id`, never a path; the status is null where none came. */
    countRegistryRequest: (template: string, status: number | null) =>
      requests.inc({ route: few('route', template), status: status === null ? 'none' : statusLabel(status) }),
    observeSync: (name: string, ended: string, seconds: number) =>
      syncs.observe({ resource: few('resource', name), state: few('state', ended) }, seconds),
    countRows: (name: string, change: 'added' | 'changed' | 'removed', count: number) =>
      rows.inc({ resource: few('resource', name), change }, count),
    countDrift: (name: string, count: number) => drift.inc({ resource: few('resource', name) }, count),
    /** Who lives and how long the oldest due job waits. Instants are epoch milliseconds. */
    setPulse: ({ at: now, seenAt, oldestDueAt }: Pulse): void => {
      for (const [role, at] of Object.entries(seenAt)) heartbeats.set({ role }, at / 1000);
      oldestDue.set(oldestDueAt === null ? 0 : Math.max(0, now - oldestDueAt) / 1000);
    },
    setFreshness: (ages: readonly ReadAge[]): void => {
      failing.set(ages.reduce((sum, each) => sum + each.failing, 0));
      for (const { state: of, reason: why, age_seconds: age, resources: count } of ages) {
        const labels = { state: few('state', of), reason: few('reason', why ?? 'none') };
        resources.set(labels, count);
        oldestRead.set(labels, Math.max(0, age ?? 0));
      }
    },
    setCertificateCounts: (counts: Counts) => setAll(certificates, counts),
    setFindingCounts: (counts: readonly Finding[]): void => {
      for (const { finding: name, rows: found } of counts)
        findings.set({ finding: few('finding', name) }, found);
    },
    renderText: (): Promise<string> => registry.metrics(),
    contentType: registry.contentType,
  };
}

/** What follows may be a number or a name. */
function beginningOf(outcome: string): string {
  return /^\S*( in part)?/.exec(outcome)?.[0] ?? '';
}

function statusLabel(status: number): string {
  return Number.isInteger(status) && status >= 100 && status <= 599 ? String(status) : 'other';
}
