import { type Dialect, SURE, view } from '../../schema.js';

const COVERAGE = view(
  'mirror.coverage',
  'Every organization that is known, one row each: what any sum is a part of. Those that have removed the app are kept apart by their state.',
  {
    organization_id: [
      'text',
      'whose installation it is; null where only a webhook named that, and nobody has looked at it yet',
    ],
    organization_name: ['text', 'its name; null where that is not known'],
    installation_id: ['text', 'the liveliest of its installations', SURE],
    state: [
      'text',
      'active, suspended, never_read (announced or found, and not looked at yet) or uninstalled: the first that fits',
      SURE,
    ],
  },
  ({ mirror }) => `WITH known AS (
  SELECT organization_id, id, state, CASE state WHEN 'active' THEN 1 WHEN 'suspended' THEN 2 ELSE 4 END AS place
  FROM ${mirror}installations
  UNION ALL
  SELECT organization_id, id, 'never_read', 3 FROM ${mirror}awaited_installations
  WHERE id NOT IN (SELECT id FROM ${mirror}installations)
),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY coalesce(organization_id, id) ORDER BY place, id DESC) AS rank FROM known
)
SELECT k.organization_id, o.full_name, k.id, k.state
FROM ranked AS k
LEFT JOIN ${mirror}organizations AS o ON o.id = k.organization_id
WHERE k.rank = 1`,
);

/** The oldest delivery that no read has answered, and the latest heartbeat of a worker. SQLite has a copy of both. */
const SEEN: Readonly<Record<Dialect['engine'], string>> = {
  sqlite: `waiting AS (
  SELECT a.organization_id, a.resource, a.oldest_unread_at
  FROM freshness_facts AS a
  JOIN resource_states AS r
    ON r.organization_id = a.organization_id AND r.resource = a.resource AND a.oldest_unread_at >= r.complete_at
),
watched AS (
  SELECT (SELECT worker_seen_at FROM origin) AS worker_seen_at
)`,
  postgres: `waiting AS (
  SELECT r.organization_id, r.resource, min(d.at)::timestamptz(3) AS oldest_unread_at
  FROM mirror.resource_states AS r
  JOIN mirror.installations AS i ON i.organization_id = r.organization_id AND i.state = 'active'
  CROSS JOIN LATERAL (
    SELECT least((
        SELECT min(received_at) FROM inbox.deliveries
        WHERE verdict = 'accepted' AND installation_id = i.id AND received_at >= r.complete_at
      ), (
        SELECT min(unread_at) FROM inbox.deliveries
        WHERE verdict = 'accepted' AND installation_id = i.id AND unread_at >= r.complete_at
      )) AS at
  ) AS d
  WHERE r.forbidden_at IS NULL AND r.not_offered_at IS NULL AND r.resource <> 'certificates' AND d.at IS NOT NULL
    AND EXISTS (SELECT FROM inbox.processes WHERE role = 'work')
  GROUP BY r.organization_id, r.resource
),
watched AS (
  SELECT max(seen_at)::timestamptz(3) AS worker_seen_at FROM inbox.processes WHERE role = 'work'
)`,
};

const FRESHNESS = view(
  'mirror.freshness',
  'How far each resource of each organization can be trusted at this moment. One that was announced or found and that nobody has looked at yet has one row, of the resource *, which is never_read. "behind" means that something was announced and nobody has looked: a delivery is older than 60 seconds and not read, or a worker watched after the last complete read (its next heartbeat was due up to 20 seconds after the one before) and none has been seen for 60 seconds.',
  {
    organization_id: [
      'text',
      'whose resource; null where only a webhook named its installation, and nobody has looked at it yet',
    ],
    resource: ['text', 'what is read; * where it is not known yet what may be read', SURE],
    state: [
      'text',
      'suspended, uninstalled, forbidden, not_offered, never_read, doubtful, partial, failing, behind, late or current: the first that fits',
      SURE,
    ],
    complete_at: ['instant', 'start of the last complete read; null before the first'],
    age_seconds: ['int', 'how long ago that was'],
    rows: ['int', 'rows that are there now; of the certificates those that are stored', SURE],
    drift: ['int', 'changes so far that no delivery had announced', SURE],
    attempted_at: ['instant', 'start of the latest read, however it ended'],
    error: ['text', 'what is wrong; null where nothing is'],
    oldest_unread_at: [
      'instant',
      'the oldest delivery that no read has answered, at most 30 seconds after it came; null where none waits',
    ],
    worker_seen_at: ['instant', 'the latest heartbeat of any worker; null before the first'],
  },
  ({ engine, mirror, any, greatest, seconds, nowSeconds, bytewise, none, whole, asText }) => {
    const since = (instant: string) => `r.now - ${seconds(instant)}`;
    const pause = greatest(
      'coalesce(r.schedule_seconds, 900)',
      'coalesce(r.every_seconds, 0)',
      'coalesce(r.duration_ms, 0) / 100',
    );
    return `WITH access AS (
  SELECT organization_id, CASE
    WHEN ${any("state = 'active'")} THEN 'active'
    WHEN ${any("state = 'suspended'")} THEN 'suspended'
    ELSE 'uninstalled'
  END AS state
  FROM ${mirror}installations
  GROUP BY organization_id
),
${SEEN[engine]},
seconds AS (
  SELECT ${nowSeconds} AS now
),
told AS (
  SELECT r.*, s.now, coalesce(access.state, 'uninstalled') AS access, o.schedule_seconds, t.worker_seen_at, w.oldest_unread_at, CASE
    WHEN access.state IS DISTINCT FROM 'active' OR r.forbidden_at IS NOT NULL OR r.not_offered_at IS NOT NULL THEN NULL
    WHEN s.now - ${seconds('w.oldest_unread_at')} > 60
      THEN 'a delivery of ' || ${asText('w.oldest_unread_at')} || ' is not read yet'
    WHEN abs(s.now - ${seconds('t.worker_seen_at')}) > 60 AND ${seconds('t.worker_seen_at')} + 20 > ${seconds('r.complete_at')}
      THEN 'no worker has been seen since ' || ${asText('t.worker_seen_at')}
  END AS why
  FROM ${mirror}resource_states AS r
  CROSS JOIN seconds AS s
  CROSS JOIN watched AS t
  LEFT JOIN access ON access.organization_id = r.organization_id
  LEFT JOIN ${mirror}origin AS o ON true
  LEFT JOIN waiting AS w
    ON w.organization_id = r.organization_id
    AND w.resource = CASE r.resource WHEN 'certificates' THEN 'retirements' ELSE r.resource END
)
SELECT r.organization_id, r.resource,
  ${bytewise(`CASE
    WHEN r.access <> 'active' THEN r.access
    WHEN r.forbidden_at IS NOT NULL THEN 'forbidden'
    WHEN r.not_offered_at IS NOT NULL THEN 'not_offered'
    WHEN r.complete_at IS NULL AND (r.open_sync IS NOT NULL OR r.outcome = 'partial') THEN 'partial'
    WHEN r.complete_at IS NULL AND r.outcome = 'failed' THEN 'failing'
    WHEN r.complete_at IS NULL THEN 'never_read'
    WHEN r.doubted_at IS NOT NULL THEN 'doubtful'
    WHEN r.open_sync IS NOT NULL OR r.outcome = 'partial' THEN 'partial'
    WHEN r.outcome = 'failed' THEN 'failing'
    WHEN r.why IS NOT NULL THEN 'behind'
    WHEN ${since('r.complete_at')} NOT BETWEEN 0 AND 2 * ${pause} THEN 'late'
    ELSE 'current'
  END`)},
  r.complete_at, ${since('r.complete_at')},
  CASE r.resource
    WHEN 'projects' THEN (
      SELECT count(*) FROM ${mirror}project_references AS n JOIN ${mirror}projects AS p ON p.id = n.project_id
      WHERE n.organization_id = r.organization_id
    )
    WHEN 'certificates' THEN (
      SELECT ${whole('coalesce(sum(certificates), 0)')} FROM ${mirror}certificate_sums AS c
      WHERE c.organization_id = r.organization_id AND c.state = 'stored'
    )
    ELSE r.rows
  END,
  r.drift, r.attempted_at, coalesce(r.error, r.why), r.oldest_unread_at, r.worker_seen_at
FROM told AS r
UNION ALL
SELECT c.organization_id, '*', c.state, ${none('instant')}, NULL, 0, 0, ${none('instant')}, NULL, ${none('instant')}, t.worker_seen_at
FROM ${mirror}coverage AS c CROSS JOIN watched AS t
WHERE c.state = 'never_read'`;
  },
);

export const OF_NOW = [COVERAGE, FRESHNESS] as const;
