-- Where no worker has ever watched, as with reads by cron, nothing waits for one: files have it so, too.
CREATE OR REPLACE VIEW mirror.freshness AS
WITH access AS (
  SELECT organization_id, CASE
    WHEN bool_or(state = 'active') THEN 'active'
    WHEN bool_or(state = 'suspended') THEN 'suspended'
    ELSE 'uninstalled'
  END AS state
  FROM mirror.installations
  GROUP BY organization_id
),
waiting AS (
  SELECT r.organization_id, r.resource, min(d.at)::timestamptz(3) AS announced_at
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
  SELECT max(seen_at)::timestamptz(3) AS watched_at FROM inbox.processes WHERE role = 'work'
),
seconds AS (
  SELECT floor(extract(epoch FROM statement_timestamp()))::bigint AS now
),
told AS (
  SELECT r.*, s.now, coalesce(access.state, 'uninstalled') AS access, o.schedule_seconds, t.watched_at,
    w.announced_at, CASE
    WHEN access.state IS DISTINCT FROM 'active' OR r.forbidden_at IS NOT NULL OR r.not_offered_at IS NOT NULL THEN NULL
    WHEN s.now - floor(extract(epoch FROM w.announced_at))::bigint > 60
      THEN 'a delivery of ' || to_char(w.announced_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || ' is not read yet'
    WHEN abs(s.now - floor(extract(epoch FROM t.watched_at))::bigint) > 60
      AND floor(extract(epoch FROM t.watched_at))::bigint + 20 > floor(extract(epoch FROM r.complete_at))::bigint
      THEN 'no worker has been seen since ' || to_char(t.watched_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
  END AS why
  FROM mirror.resource_states AS r
  CROSS JOIN seconds AS s
  CROSS JOIN watched AS t
  LEFT JOIN access ON access.organization_id = r.organization_id
  LEFT JOIN mirror.origin AS o ON true
  LEFT JOIN waiting AS w
    ON w.organization_id = r.organization_id
    AND w.resource = CASE r.resource WHEN 'certificates' THEN 'retirements' ELSE r.resource END
)
SELECT r.organization_id, r.resource,
  CASE
    WHEN r.access <> 'active' THEN r.access
    WHEN r.forbidden_at IS NOT NULL THEN 'forbidden'
    WHEN r.not_offered_at IS NOT NULL THEN 'not_offered'
    WHEN r.complete_at IS NULL AND (r.open_run IS NOT NULL OR r.outcome = 'partial') THEN 'partial'
    WHEN r.complete_at IS NULL AND r.outcome = 'failed' THEN 'failing'
    WHEN r.complete_at IS NULL THEN 'never_read'
    WHEN r.doubted_at IS NOT NULL THEN 'doubtful'
    WHEN r.open_run IS NOT NULL OR r.outcome = 'partial' THEN 'partial'
    WHEN r.outcome = 'failed' THEN 'failing'
    WHEN r.why IS NOT NULL THEN 'behind'
    WHEN r.now - floor(extract(epoch FROM r.complete_at))::bigint NOT BETWEEN 0
      AND 2 * greatest(coalesce(r.schedule_seconds, 900), coalesce(r.duration_ms, 0) / 100) THEN 'late'
    ELSE 'current'
  END COLLATE "C" AS state,
  r.complete_at, r.now - floor(extract(epoch FROM r.complete_at))::bigint AS age_seconds,
  CASE r.resource
    WHEN 'projects' THEN (
      SELECT count(*) FROM mirror.project_references AS n JOIN mirror.projects AS p ON p.id = n.project_id
      WHERE n.organization_id = r.organization_id
    )
    WHEN 'certificates' THEN (
      SELECT coalesce(sum(certificates), 0)::bigint FROM mirror.certificate_sums AS c
      WHERE c.organization_id = r.organization_id AND c.state = 'stored'
    )
    ELSE r.rows
  END AS rows,
  r.drift, r.attempted_at, coalesce(r.error, r.why) AS error, r.announced_at, r.watched_at
FROM told AS r;
