CREATE TEMP TABLE origin_before AS SELECT * FROM origin;
DROP TABLE origin;

-- The one registry that this mirror was filled from. It refuses any other. One row.
CREATE TABLE origin (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1), -- always 1
  base_url TEXT NOT NULL, -- address of the registry
  app_id TEXT NOT NULL, -- the app that reads it
  schedule_seconds INTEGER NOT NULL DEFAULT 900, -- time between two scheduled reads; twice as old is late
  created_at TEXT NOT NULL, -- when the mirror was first filled
  watched_at TEXT -- the latest sign of life of any worker; one comes every 15 seconds
) STRICT;
INSERT INTO origin (only_row, base_url, app_id, schedule_seconds, created_at)
SELECT only_row, base_url, app_id, schedule_seconds, created_at FROM origin_before;
DROP TABLE origin_before;

CREATE TEMP TABLE resource_states_before AS SELECT * FROM resource_states;
DROP TABLE resource_states;

-- What is known of each resource of each organization. People read the view "freshness" instead.
CREATE TABLE resource_states (
  organization_id TEXT NOT NULL, -- whose resource
  resource TEXT NOT NULL, -- what is read
  rows INTEGER NOT NULL DEFAULT 0, -- rows that are there now
  first_complete_at TEXT, -- end of the first complete read; what was before it is not known. Its start, where that read was made before migration 0006
  complete_at TEXT, -- start of the last complete read; null before the first
  attempted_at TEXT, -- start of the latest read, however it ended
  outcome TEXT CHECK (outcome IN ('complete', 'partial', 'doubtful', 'failed')), -- how the latest read ended
  error_code TEXT, -- code of what went wrong with it
  error TEXT, -- what went wrong with it, in words
  forbidden_at TEXT, -- since when the permission is missing, or since when it is refused all the same; null where it may be read
  refusals INTEGER NOT NULL DEFAULT 0, -- refusals in a row of what should be permitted; each is believed for longer than the one before
  not_offered_at TEXT, -- since when the registry has answered that there is no such thing for this organization; null where it offers it
  answer_status INTEGER, -- HTTP status of the latest answer; null before the first
  answer_form TEXT, -- form of the latest answer: list, pages, object, none or unusable
  answered_at TEXT, -- when the latest answer came
  answer_text TEXT, -- the latest answer itself, its first 4,096 characters, where it has another form than this resource has; null elsewhere
  page_size INTEGER, -- rows that it was asked for a page, where the registry refuses as many as we ask for; null elsewhere
  open_run INTEGER, -- the sync run that has written and not ended; null between runs
  doubted_at TEXT, -- start of the complete read that lacked most rows; null where none waits for a second one
  doubted BLOB, -- the versions that it lacked, a packed set
  drift INTEGER NOT NULL DEFAULT 0, -- changes so far that no delivery had announced
  drift_at TEXT, -- start of the read that found the latest of them
  duration_ms INTEGER, -- how long the last complete read took, without the time in which it waited for answers that never came
  stamp_at TEXT, -- the latest instant given to a row of it; the next one is later, whatever the clock says
  read_claim INTEGER, -- claim of the newest read that has written
  read_at TEXT, -- start of that read
  PRIMARY KEY (organization_id, resource)
) STRICT;
INSERT INTO resource_states (organization_id, resource, rows, first_complete_at, complete_at, attempted_at, outcome, error_code, error, forbidden_at, open_run, doubted_at, doubted, drift, drift_at, duration_ms, stamp_at, read_claim, read_at)
SELECT organization_id, resource, rows, first_complete_at, complete_at, attempted_at, outcome, error_code, error, forbidden_at, open_run, doubted_at, doubted, drift, drift_at, duration_ms, stamp_at, read_claim, read_at FROM resource_states_before;
DROP TABLE resource_states_before;

-- What was announced and not read yet: for each resource the oldest delivery that came at or after the start of its last
-- complete read. A worker copies it from the inbox once it is 15 seconds old, and removes it at its next look after a
-- read has answered it. Certificates have no row: they wait for what retirements wait for.
CREATE TABLE announcements (
  organization_id TEXT NOT NULL, -- whose resource
  resource TEXT NOT NULL, -- what is to be read
  announced_at TEXT NOT NULL, -- when the delivery came
  PRIMARY KEY (organization_id, resource)
) STRICT, WITHOUT ROWID;

DROP VIEW freshness;

-- How far each resource of each organization can be trusted at this moment.
-- "behind" means that something was announced and nobody has looked: a delivery is older than 60 seconds and not read,
-- or a worker watched after the last complete read (its next sign of life was due up to 20 seconds after the one
-- before) and none has been seen for 60 seconds.
CREATE VIEW freshness (
  organization_id, -- whose resource
  resource, -- what is read
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
      AND 2 * max(coalesce(r.schedule_seconds, 900), coalesce(r.duration_ms, 0) / 100) THEN 'late'
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
FROM told AS r;

-- SQLite before 3.42 knows no parts of a second here, and answered nothing.
DROP VIEW reservations_now;

-- Reservations as they stand at this moment, to the second: a hold ends by the clock, without any event.
CREATE VIEW reservations_now (
  version, -- number of this version; rises over all tables and is never used twice
  organization_id, -- the organization whose list it stood in
  id, -- the registry's id
  credit_id, -- the credit that is held
  serialization, -- what names the credit in public
  type, -- exPost (issued) or exAnte (expected)
  amount, -- tonnes, to look at; sums of it are not exact
  amount_micro, -- millionths of a tonne, for exact sums; null where the amount is finer or larger than that holds
  amount_exact, -- the registry's own digits; null where it sent no usable number
  fault, -- what is wrong with the amount; null where nothing is
  project_id, -- the project that issued the credit
  project_name, -- the project's name as this row was sent with it
  reserver_id, -- the app that holds it
  reserver_name, -- name of that app
  state, -- the registry's own word when it was read; it grows old as the clock runs
  is_complete, -- 1 where a transfer or retirement finished it, else 0
  reserved_to_at, -- when the hold ends
  created_at, -- when the registry says it was created
  updated_at, -- when the registry says it last changed
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier. Before migration 0006: start of that read
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  state_now, -- outstanding, finished, cancelled or expired, worked out when this is read
  seconds_left -- how long the hold still lasts; null unless it is outstanding
) AS
WITH reckoned AS (
  SELECT *, CASE
    WHEN is_complete = 1 OR lower(state) = 'finished' THEN 'finished'
    WHEN lower(state) = 'cancelled' THEN 'cancelled'
    WHEN lower(state) = 'expired' OR unixepoch(reserved_to_at) <= unixepoch('now') THEN 'expired'
    ELSE 'outstanding'
  END AS state_now
  FROM reservations
)
SELECT version, organization_id, id, credit_id, serialization, type, amount, amount_micro, amount_exact, fault, project_id, project_name, reserver_id, reserver_name, state, is_complete, reserved_to_at, created_at, updated_at, valid_from, sync_run_id, state_now,
  CASE WHEN state_now = 'outstanding' THEN unixepoch(reserved_to_at) - unixepoch('now') END
FROM reckoned;

-- What columns of earlier migrations mean from here on. Versions that stand already keep the instants that they have.
-- WAS start of the read that found this version; the registry may have changed earlier
-- NOW when the answer that showed this version had arrived; the registry may have changed earlier. Before migration 0006: start of that read
-- WAS start of the read that no longer found it so; it was true before, not at, this instant
-- NOW when the answer with the next version had arrived, or the end of the read that no longer found it; it was true before, not at, this instant. Before migration 0006: start of that read
-- WAS start of the read that found this file; for a row without a file, when it was entered
-- NOW when this file had arrived to its end; for a row without a file, when it was entered. Before migration 0006: start of the read that found it
