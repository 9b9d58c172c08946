import { SURE, view, whole } from '../../schema.js';

const COVERAGE = view(
  'mirror.coverage',
  'All known organizations, one row each, so that a query can tell which organizations a sum covers. Organizations that removed the app have the state uninstalled.',
  {
    organization_id: [
      'text',
      'id of the organization; NULL if the installation is known only from a webhook and was never read',
    ],
    organization_name: ['text', 'name of the organization; NULL if unknown'],
    installation_id: [
      'text',
      'id of the most active installation of the organization, whose state is shown',
      SURE,
    ],
    state: ['text', 'active, suspended, never_read (known, but never read) or uninstalled', SURE],
  },
  ({ mirror }) => {
    const isUnread = `NOT EXISTS (SELECT 1 FROM ${mirror}installations AS i WHERE i.id = a.id)`;
    return `-- The names of the states happen to sort by activity: active, suspended, uninstalled.
WITH known AS (
  SELECT i.organization_id, i.id, i.state FROM ${mirror}installations AS i
  WHERE NOT EXISTS (
      SELECT 1 FROM ${mirror}installations AS b
      WHERE b.organization_id = i.organization_id AND b.state <= i.state AND (b.state < i.state OR b.id > i.id))
    AND (i.state <> 'uninstalled' OR coalesce(i.organization_id, '') NOT IN (
      SELECT a.organization_id FROM ${mirror}awaited_installations AS a WHERE a.organization_id IS NOT NULL AND ${isUnread}))
  UNION ALL
  SELECT a.organization_id, max(a.id), 'never_read' FROM ${mirror}awaited_installations AS a
  WHERE ${isUnread} AND NOT EXISTS (
    SELECT 1 FROM ${mirror}installations AS i WHERE i.organization_id = a.organization_id AND i.state <> 'uninstalled')
  GROUP BY a.organization_id, CASE WHEN a.organization_id IS NULL THEN a.id END
)
SELECT k.organization_id, o.full_name, k.id, k.state
FROM known AS k LEFT JOIN ${mirror}organizations AS o ON o.id = k.organization_id`;
  },
);

const DAY_SECONDS = 86_400;

/** Resources whose rows refer to a project. */
const NAMING_PROJECTS = "'warehouse', 'reservations', 'inventory', 'inventory_requests', 'retirements'";

const FRESHNESS = view(
  'mirror.freshness',
  'Whether each resource of each organization is up to date at this moment, and if not, why. An installation that was never read has one row with the resource * and the state never_read.',
  {
    organization_id: [
      'text',
      'id of the organization; NULL if the installation is known only from a webhook and was never read',
    ],
    resource: ['text', 'name of the resource; * if the installation was never read', SURE],
    state: [
      'text',
      'no_access, not_offered, never_read, stale or fresh: the first of these that applies',
      SURE,
    ],
    reason: [
      'text',
      'reason for the state: the first that applies; NULL if the state is fresh or not_offered. Reasons of no_access: suspended, uninstalled, no_permission. Of never_read: read_interrupted, read_failed, waiting. Of stale: removals_unconfirmed (the last read lacked most rows, or lacked some and had an unreadable row without a key; a second read must confirm the removals), being_read, read_interrupted, read_failed (the last read failed, and it was requested by a webhook or the data is older than the read interval), unread_webhook (a delivery has waited for more than 60 seconds), worker_gone (no heartbeat for more than 60 seconds), clock_changed (the clock was set back), overdue (the data is older than two read intervals). The read interval is that of SYNC_SCHEDULE, 15 minutes by default, or longer for lists that are read less often or take long to read. For projects it is a day, and unread_webhook and worker_gone do not apply, because no webhook announces a project',
    ],
    as_of: [
      'instant',
      'start of the last complete read; NULL if there was none. For projects: the earliest of the last requests of all projects that rows of the organization refer to; NULL if one of them was never requested. For certificates: start of the last complete pass over the certificates that were due',
    ],
    age_seconds: ['int', 'seconds since as_of; NULL if as_of is NULL'],
    rows: ['int', 'number of current rows; for certificates, the number of stored ones', SURE],
    drift_total: ['int', 'total number of changes that no delivery had announced', SURE],
    attempted_at: ['instant', 'start of the last read, whatever its result; NULL if there was none'],
    error: ['text', 'error of the last read, in words; NULL if there was none. Set whatever the state is'],
    failing_since: [
      'instant',
      'start of the first read that failed or was incomplete since the last complete one; NULL if the last read was complete',
    ],
    oldest_unread_at: [
      'instant',
      'when the oldest delivery arrived that no complete read has answered; NULL if there is none. May be up to 30 seconds behind',
    ],
    worker_seen_at: ['instant', 'last heartbeat of any worker; NULL if there was none'],
  },
  ({ mirror, as, greatest, later, seconds, now, bytewise }) => {
    const interval = greatest(
      'm.schedule_seconds',
      `CASE r.resource WHEN 'projects' THEN ${DAY_SECONDS} ELSE coalesce(r.every_seconds, 0) END`,
      'coalesce(r.duration_ms, 0) / 100',
    );
    const noText = bytewise(as('text', 'NULL'));
    const noInstant = as('instant', 'NULL');
    const hasInstallation = (state: string) => `EXISTS (
      SELECT 1 FROM ${mirror}installations AS i WHERE i.organization_id = r.organization_id AND i.state = '${state}')`;
    const otherRows = `CASE r.resource WHEN 'certificates' THEN (
      SELECT ${whole('coalesce(sum(certificates), 0)')} FROM ${mirror}certificate_sums AS c
      WHERE c.organization_id = r.organization_id AND c.state = 'stored') ELSE r.rows END`;
    const projectRows = `(
      SELECT count(*) FROM ${mirror}project_references AS n JOIN ${mirror}projects AS p ON p.id = n.project_id
      WHERE n.organization_id = r.organization_id)`;
    const projectsAsOf = as(
      'instant',
      `(
      SELECT CASE
          WHEN count(*) = 0 THEN (
            SELECT min(l.as_of) FROM ${mirror}resource_states AS l
            WHERE l.organization_id = r.organization_id AND l.resource IN (${NAMING_PROJECTS})
              AND l.no_permission_at IS NULL AND l.not_offered_at IS NULL)
          WHEN count(p.checked_at) = count(*) THEN min(p.checked_at)
        END
      FROM ${mirror}project_references AS n LEFT JOIN ${mirror}project_states AS p ON p.project_id = n.project_id
      WHERE n.organization_id = r.organization_id)`,
    );
    /**
     * Returns a part of a UNION ALL. PostgreSQL evaluates the columns of such a part once for each row, and only for the organizations
     * that are queried. Columns of other subqueries are evaluated again wherever they are used.
     */
    const readsOf = (
      condition: string,
      asOf: string,
      rows: string,
    ) => `SELECT r.organization_id, r.resource, ${asOf} AS as_of, ${rows} AS rows,
    CASE WHEN ${hasInstallation('active')} THEN 'active'
      WHEN ${hasInstallation('suspended')} THEN 'suspended' ELSE 'uninstalled' END AS access,
    r.attempted_at, r.outcome, r.error, r.failing_since, r.webhook_failed, r.no_permission_at, r.not_offered_at,
    r.open_sync, r.doubted_at, r.drift_total, r.duration_ms, r.stamp_at, r.every_seconds
  FROM ${mirror}resource_states AS r WHERE ${condition}`;
    const neverReadOf = (
      organization: string,
      condition: string,
    ) => `SELECT ${organization}, '*', ${bytewise("'never_read'")}, ${bytewise("'waiting'")}, ${noInstant}, ${as('int', 'NULL')}, 0, 0,
  ${noInstant}, ${noText}, ${noInstant}, ${noInstant}, (SELECT worker_seen_at FROM ${mirror}origin)
FROM ${mirror}awaited_installations AS a
WHERE ${condition} AND NOT EXISTS (SELECT 1 FROM ${mirror}installations AS i WHERE i.id = a.id)`;
    const within = later('c.now_at', '-2000 * c.schedule_seconds');
    /** A quick test that most rows pass. It compares instants without converting them to seconds. */
    const isFine = `r.outcome = 'complete' AND r.open_sync IS NULL AND r.doubted_at IS NULL AND r.no_permission_at IS NULL
      AND r.not_offered_at IS NULL AND r.access = 'active' AND r.oldest_unread_at IS NULL
      AND r.as_of BETWEEN r.surely_from AND r.now_at`;
    return `WITH unread AS (
  SELECT a.organization_id, a.resource, a.oldest_unread_at
  FROM ${mirror}freshness_facts AS a CROSS JOIN ${mirror}resource_states AS r
  WHERE r.organization_id = a.organization_id AND r.resource = a.resource AND a.oldest_unread_at >= r.as_of
),
clock AS (
  SELECT n.now_at, ${seconds('n.now_at')} AS now, o.worker_seen_at, ${seconds('o.worker_seen_at')} AS worker_seen,
    coalesce(o.schedule_seconds, 900) AS schedule_seconds
  FROM (SELECT ${now} AS now_at) AS n LEFT JOIN ${mirror}origin AS o ON true
),
moment AS MATERIALIZED (
  SELECT c.*, CASE
    WHEN c.worker_seen < c.now - 60 THEN c.worker_seen + 20
    WHEN c.worker_seen > c.now + 60 THEN c.now + 1
    ELSE 0
  END AS trusted_from, CASE
    WHEN c.worker_seen < c.now - 60 THEN ${greatest(later('c.worker_seen_at', '20000'), within)}
    WHEN coalesce(c.worker_seen, 0) <= c.now + 60 THEN ${within}
  END AS surely_from
  FROM clock AS c
),
reads AS (
  ${readsOf(`r.resource <> 'projects'`, 'r.as_of', otherRows)}
  UNION ALL
  ${readsOf(`r.resource = 'projects'`, projectsAsOf, projectRows)}
),
known AS (
  SELECT r.*, m.now_at, m.now, m.worker_seen_at, m.worker_seen, m.surely_from, m.trusted_from,
    w.oldest_unread_at, ${seconds('r.as_of')} AS as_of_seconds, ${interval} AS interval_seconds, running.id AS running
  FROM reads AS r
  CROSS JOIN moment AS m
  LEFT JOIN ${mirror}syncs AS running ON running.id = r.open_sync AND running.state = 'running'
  LEFT JOIN unread AS w
    ON w.organization_id = r.organization_id AND r.access = 'active' AND r.no_permission_at IS NULL AND r.not_offered_at IS NULL
    AND w.resource = CASE r.resource WHEN 'certificates' THEN 'retirements' ELSE r.resource END
),
told AS (
  SELECT r.*, r.now - r.as_of_seconds AS age,
    running IS NOT NULL
      AND (abs(r.now - r.worker_seen) <= 60 OR abs(r.now - ${seconds('r.stamp_at')}) <= 60) AS is_being_read,
    (r.open_sync IS NOT NULL OR coalesce(r.outcome, 'complete') NOT IN ('complete', 'failed'))
      AND (r.resource = 'projects' AND r.now - r.as_of_seconds <= r.interval_seconds) IS NOT TRUE AS is_interrupted
  FROM known AS r
),
judged AS (
  SELECT r.*, CASE
    WHEN ${isFine} THEN NULL
    WHEN r.access <> 'active' THEN r.access
    WHEN r.no_permission_at IS NOT NULL THEN 'no_permission'
    WHEN r.not_offered_at IS NOT NULL THEN NULL
    WHEN r.as_of IS NULL THEN CASE
      WHEN r.is_being_read THEN 'waiting'
      WHEN r.is_interrupted THEN 'read_interrupted'
      WHEN r.outcome = 'failed' THEN 'read_failed'
      ELSE 'waiting'
    END
    WHEN r.doubted_at IS NOT NULL THEN 'removals_unconfirmed'
    WHEN r.is_being_read THEN 'being_read'
    WHEN r.is_interrupted THEN 'read_interrupted'
    WHEN r.outcome = 'failed' AND (r.webhook_failed = 1 OR r.age > r.interval_seconds) THEN 'read_failed'
    WHEN r.now - ${seconds('r.oldest_unread_at')} > 60 THEN 'unread_webhook'
    WHEN r.worker_seen < r.now - 60 AND r.as_of_seconds < r.trusted_from AND r.resource <> 'projects' THEN 'worker_gone'
    WHEN r.age < 0 OR r.worker_seen > r.now + 60 THEN 'clock_changed'
    WHEN r.age > 2 * r.interval_seconds THEN 'overdue'
  END AS reason
  FROM told AS r
)
SELECT r.organization_id, r.resource,
  ${bytewise(`CASE
    WHEN ${isFine} THEN 'fresh'
    WHEN r.access <> 'active' OR r.no_permission_at IS NOT NULL THEN 'no_access'
    WHEN r.not_offered_at IS NOT NULL THEN 'not_offered'
    WHEN r.as_of IS NULL THEN 'never_read'
    WHEN r.reason IS NOT NULL THEN 'stale'
    ELSE 'fresh'
  END`)},
  ${bytewise('r.reason')},
  r.as_of, r.age, r.rows,
  r.drift_total, r.attempted_at, r.error, r.failing_since, r.oldest_unread_at, r.worker_seen_at
FROM judged AS r
UNION ALL
${neverReadOf('DISTINCT a.organization_id', 'a.organization_id IS NOT NULL')} AND NOT EXISTS (
  SELECT 1 FROM ${mirror}installations AS i
  WHERE i.organization_id = a.organization_id AND i.state IN ('active', 'suspended'))
UNION ALL
${neverReadOf(noText, 'a.organization_id IS NULL')}`;
  },
);

const UNCHANGED_READS = view(
  'mirror.unchanged_reads',
  'Scheduled reads that found nothing new. Consecutive reads of one resource on one UTC day share a row. All other reads have rows in syncs.',
  {
    organization_id: ['text', 'id of the organization', SURE],
    resource: ['text', 'name of the resource', SURE],
    first_started_at: ['instant', 'start of the first of these reads', SURE],
    first_finished_at: ['instant', 'end of the first of these reads', SURE],
    last_started_at: ['instant', 'start of the last of these reads', SURE],
    last_finished_at: ['instant', 'end of the last of these reads', SURE],
    reads: ['int', 'number of these reads', SURE],
    requests: ['int', 'total requests to the registry', SURE],
    bytes: ['int', 'total bytes received', SURE],
    is_open: ['int', '1 if the next such read is still added to this row, else 0', SURE],
  },
  ({
    mirror,
  }) => `SELECT organization_id, resource, first_started_at, first_finished_at, last_started_at, last_finished_at,
  reads, requests, bytes, ${whole('0')}
FROM ${mirror}unchanged_spans
UNION ALL
SELECT organization_id, resource, unchanged_first_started_at, unchanged_first_finished_at, as_of, unchanged_last_finished_at,
  unchanged_reads, unchanged_requests, unchanged_bytes, ${whole('1')}
FROM ${mirror}resource_states WHERE unchanged_reads > 0`,
);

export const OF_NOW = [COVERAGE, FRESHNESS, UNCHANGED_READS] as const;
