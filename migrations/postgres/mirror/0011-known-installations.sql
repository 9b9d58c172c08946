ALTER TABLE mirror.origin ADD COLUMN listed_at timestamptz(3);
COMMENT ON COLUMN mirror.origin.listed_at IS 'when the registry''s list of installations was last read to its end, and said of each what it may; null before';
ALTER TABLE mirror.resource_states ADD COLUMN every_seconds bigint;
ALTER TABLE mirror.resource_states ADD COLUMN requests bigint;
COMMENT ON COLUMN mirror.resource_states.every_seconds IS 'how often it is read without a webhook; null where each scheduled round reads it';
COMMENT ON COLUMN mirror.resource_states.requests IS 'calls that the last complete read took';

CREATE TABLE mirror.awaited_installations (
  id text COLLATE "C" PRIMARY KEY,
  organization_id text COLLATE "C",
  known_at timestamptz(3) NOT NULL
);
COMMENT ON TABLE mirror.awaited_installations IS 'Installations that a webhook, a person or the registry''s list has named and nobody has looked at yet. The first look takes a row away, whatever it finds. People read the view "coverage" instead.';
COMMENT ON COLUMN mirror.awaited_installations.id IS 'the registry''s id';
COMMENT ON COLUMN mirror.awaited_installations.organization_id IS 'whose it is; null where only a webhook named it';
COMMENT ON COLUMN mirror.awaited_installations.known_at IS 'when a worker came to know of it';

CREATE VIEW mirror.coverage AS
WITH known AS (
  SELECT organization_id, id, state, CASE state WHEN 'active' THEN 1 WHEN 'suspended' THEN 2 ELSE 4 END AS place
  FROM mirror.installations
  UNION ALL
  SELECT organization_id, id, 'never_read', 3 FROM mirror.awaited_installations
  WHERE id NOT IN (SELECT id FROM mirror.installations)
),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY coalesce(organization_id, id) ORDER BY place, id DESC) AS rank FROM known
)
SELECT k.organization_id, o.full_name AS organization_name, k.id AS installation_id, k.state
FROM ranked AS k
LEFT JOIN mirror.organizations AS o ON o.id = k.organization_id
WHERE k.rank = 1;
COMMENT ON VIEW mirror.coverage IS 'Every organization that is known, one row each: what any sum is a part of. Those that have removed the app are kept apart by their state.';
COMMENT ON COLUMN mirror.coverage.organization_id IS 'whose installation it is; null where only a webhook named that, and nobody has looked at it yet';
COMMENT ON COLUMN mirror.coverage.organization_name IS 'its name; null where that is not known';
COMMENT ON COLUMN mirror.coverage.installation_id IS 'the liveliest of its installations';
COMMENT ON COLUMN mirror.coverage.state IS 'active, suspended, never_read (announced or found, and not looked at yet) or uninstalled: the first that fits';

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
      AND 2 * greatest(coalesce(r.schedule_seconds, 900), coalesce(r.every_seconds, 0), coalesce(r.duration_ms, 0) / 100) THEN 'late'
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
FROM told AS r
UNION ALL
SELECT c.organization_id, '*', c.state, NULL::timestamptz(3), NULL, 0, 0, NULL::timestamptz(3), NULL, NULL::timestamptz(3), t.watched_at
FROM mirror.coverage AS c CROSS JOIN watched AS t
WHERE c.state = 'never_read';
COMMENT ON VIEW mirror.freshness IS 'How far each resource of each organization can be trusted at this moment. One that was announced or found and that nobody has looked at yet has one row, of the resource *, which is never_read. "behind" means that something was announced and nobody has looked: a delivery is older than 60 seconds and not read, or a worker watched after the last complete read (its next sign of life was due up to 20 seconds after the one before) and none has been seen for 60 seconds.';
COMMENT ON COLUMN mirror.freshness.organization_id IS 'whose resource; null where only a webhook named its installation, and nobody has looked at it yet';
COMMENT ON COLUMN mirror.freshness.resource IS 'what is read; * where it is not known yet what may be read';
