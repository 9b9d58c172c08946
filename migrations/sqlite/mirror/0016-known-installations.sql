ALTER TABLE origin ADD COLUMN listed_at TEXT; -- when the registry's list of installations was last read to its end, and said of each what it may; null before
ALTER TABLE resource_states ADD COLUMN every_seconds INTEGER; -- how often it is read without a webhook; null where each scheduled round reads it
ALTER TABLE resource_states ADD COLUMN requests INTEGER; -- calls that the last complete read took

-- Installations that a webhook, a person or the registry's list has named and nobody has looked at yet. The first look
-- takes a row away, whatever it finds. People read the view "coverage" instead.
CREATE TABLE awaited_installations (
  id TEXT PRIMARY KEY, -- the registry's id
  organization_id TEXT, -- whose it is; null where only a webhook named it
  known_at TEXT NOT NULL -- when a worker came to know of it
) STRICT, WITHOUT ROWID;

-- Every organization that is known, one row each: what any sum is a part of. Those that have removed the app are kept apart by their state.
CREATE VIEW coverage (
  organization_id, -- whose installation it is; null where only a webhook named that, and nobody has looked at it yet
  organization_name, -- its name; null where that is not known
  installation_id, -- the liveliest of its installations
  state -- active, suspended, never_read (announced or found, and not looked at yet) or uninstalled: the first that fits
) AS
WITH known AS (
  SELECT organization_id, id, state, CASE state WHEN 'active' THEN 1 WHEN 'suspended' THEN 2 ELSE 4 END AS place FROM installations
  UNION ALL
  SELECT organization_id, id, 'never_read', 3 FROM awaited_installations WHERE id NOT IN (SELECT id FROM installations)
),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY coalesce(organization_id, id) ORDER BY place, id DESC) AS rank FROM known
)
SELECT k.organization_id, o.full_name, k.id, k.state
FROM ranked AS k
LEFT JOIN organizations AS o ON o.id = k.organization_id
WHERE k.rank = 1;

DROP VIEW freshness;

-- How far each resource of each organization can be trusted at this moment. One that was announced or found and that
-- nobody has looked at yet has one row, of the resource *, which is never_read.
-- "behind" means that something was announced and nobody has looked: a delivery is older than 60 seconds and not read,
-- or a worker watched after the last complete read (its next sign of life was due up to 20 seconds after the one
-- before) and none has been seen for 60 seconds.
CREATE VIEW freshness (
  organization_id, -- whose resource; null where only a webhook named its installation, and nobody has looked at it yet
  resource, -- what is read; * where it is not known yet what may be read
  state, -- suspended, uninstalled, forbidden, not_offered, never_read, doubtful, partial, failing, behind, late or current: the first that fits
  complete_at, -- start of the last complete read; null before the first
  age_seconds, -- how long ago that was
  rows, -- rows that are there now; of the certificates those that are stored
  drift, -- changes so far that no delivery had announced
  attempted_at, -- start of the latest read, however it ended
  error, -- what is wrong; null where nothing is
  announced_at, -- the oldest delivery that no read has answered, at most 30 seconds after it came; null where none waits
  watched_at -- the latest sign of life of any worker; null before the first
) AS
WITH access AS (
  SELECT organization_id, CASE
    WHEN max(state = 'active') THEN 'active'
    WHEN max(state = 'suspended') THEN 'suspended'
    ELSE 'uninstalled'
  END AS state
  FROM installations
  GROUP BY organization_id
),
waiting AS (
  SELECT a.organization_id, a.resource, a.announced_at
  FROM announcements AS a
  JOIN resource_states AS r
    ON r.organization_id = a.organization_id AND r.resource = a.resource AND a.announced_at >= r.complete_at
),
told AS (
  SELECT r.*, coalesce(access.state, 'uninstalled') AS access, o.schedule_seconds, o.watched_at, w.announced_at, CASE
    WHEN access.state IS NOT 'active' OR r.forbidden_at IS NOT NULL OR r.not_offered_at IS NOT NULL THEN NULL
    WHEN unixepoch('now') - unixepoch(w.announced_at) > 60
      THEN 'a delivery of ' || w.announced_at || ' is not read yet'
    WHEN abs(unixepoch('now') - unixepoch(o.watched_at)) > 60
      AND unixepoch(o.watched_at) + 20 > unixepoch(r.complete_at)
      THEN 'no worker has been seen since ' || o.watched_at
  END AS why
  FROM resource_states AS r
  LEFT JOIN access ON access.organization_id = r.organization_id
  LEFT JOIN origin AS o ON true
  LEFT JOIN waiting AS w
    ON w.organization_id = r.organization_id
    AND w.resource = iif(r.resource = 'certificates', 'retirements', r.resource)
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
    WHEN unixepoch('now') - unixepoch(r.complete_at) NOT BETWEEN 0
      AND 2 * max(coalesce(r.schedule_seconds, 900), coalesce(r.every_seconds, 0), coalesce(r.duration_ms, 0) / 100) THEN 'late'
    ELSE 'current'
  END,
  r.complete_at, unixepoch('now') - unixepoch(r.complete_at),
  CASE r.resource
    WHEN 'projects' THEN (
      SELECT count(*) FROM project_references AS n JOIN projects AS p ON p.id = n.project_id
      WHERE n.organization_id = r.organization_id
    )
    WHEN 'certificates' THEN (
      SELECT coalesce(sum(certificates), 0) FROM certificate_sums AS c
      WHERE c.organization_id = r.organization_id AND c.state = 'stored'
    )
    ELSE r.rows
  END,
  r.drift, r.attempted_at, coalesce(r.error, r.why), r.announced_at, r.watched_at
FROM told AS r
UNION ALL
SELECT c.organization_id, '*', c.state, NULL, NULL, 0, 0, NULL, NULL, NULL, o.watched_at
FROM coverage AS c LEFT JOIN origin AS o ON true
WHERE c.state = 'never_read';
