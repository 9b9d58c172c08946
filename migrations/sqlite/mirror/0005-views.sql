-- How far each resource of each organization can be trusted at this moment.
CREATE VIEW freshness (
  organization_id, -- whose resource
  resource, -- what is read
  state, -- current, late, partial, doubtful, failing, forbidden, suspended, uninstalled or never_read
  complete_at, -- start of the last complete read; null before the first
  age_seconds, -- how long ago that was
  rows, -- rows that are there now; of the certificates those that are stored
  drift, -- changes so far that no delivery had announced
  attempted_at, -- start of the latest read, however it ended
  error -- what is wrong; null where nothing is
) AS
WITH access AS (
  SELECT organization_id, CASE
    WHEN max(state = 'active') THEN 'active'
    WHEN max(state = 'suspended') THEN 'suspended'
    ELSE 'uninstalled'
  END AS state
  FROM installations
  GROUP BY organization_id
)
SELECT r.organization_id, r.resource,
  CASE
    WHEN access.state IS NOT 'active' THEN coalesce(access.state, 'uninstalled')
    WHEN r.forbidden_at IS NOT NULL THEN 'forbidden'
    WHEN r.complete_at IS NULL AND (r.open_run IS NOT NULL OR r.outcome = 'partial') THEN 'partial'
    WHEN r.complete_at IS NULL AND r.outcome = 'failed' THEN 'failing'
    WHEN r.complete_at IS NULL THEN 'never_read'
    WHEN r.doubted_at IS NOT NULL THEN 'doubtful'
    WHEN r.open_run IS NOT NULL OR r.outcome = 'partial' THEN 'partial'
    WHEN r.outcome = 'failed' THEN 'failing'
    WHEN unixepoch('now') - unixepoch(r.complete_at)
      > 2 * max(coalesce((SELECT schedule_seconds FROM origin), 900), coalesce(r.duration_ms, 0) / 100) THEN 'late'
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
  r.drift, r.attempted_at, r.error
FROM resource_states AS r
LEFT JOIN access ON access.organization_id = r.organization_id;

-- Credits in the warehouses by organization, project, vintage and type, whatever their freshness.
-- Amounts are added in whole tonnes and in millionths beyond, so that no sum overflows.
CREATE VIEW warehouse_sums (
  organization_id, -- who owns the credits
  organization_name, -- its name
  project_id, -- the project that issued them
  project_name, -- its name
  vintage, -- year of the reduction
  type, -- exPost (issued) or exAnte (expected)
  amount, -- tonnes, to look at
  amount_micro, -- millionths of a tonne, exact; null where the sum is too large for that
  rows, -- how many rows of warehouse_credits
  rows_not_summed, -- how many of them have no amount_micro and are left out of the sum
  freshness, -- state of the organization's warehouse in the view freshness
  complete_at, -- start of the last complete read of the warehouse
  age_seconds -- how long ago that was
) AS
WITH sums AS (
  SELECT organization_id, project_id, vintage, type,
    max(project_name) AS project_name,
    coalesce(sum(amount_micro / 1000000), 0) AS tonnes,
    coalesce(sum(amount_micro % 1000000), 0) AS micro,
    count(*) AS rows,
    count(*) - count(amount_micro) AS rows_not_summed
  FROM warehouse_credits
  GROUP BY organization_id, project_id, vintage, type
)
SELECT s.organization_id, o.full_name, s.project_id, coalesce(p.full_name, s.project_name), s.vintage, s.type,
  s.tonnes + s.micro / 1000000.0,
  CASE WHEN abs(s.tonnes) < 9000000000000 THEN s.tonnes * 1000000 + s.micro END,
  s.rows, s.rows_not_summed, f.state, f.complete_at, f.age_seconds
FROM sums AS s
LEFT JOIN freshness AS f ON f.organization_id = s.organization_id AND f.resource = 'warehouse'
LEFT JOIN organizations AS o ON o.id = s.organization_id
LEFT JOIN projects AS p ON p.id = s.project_id;

-- What can be sold now: active organizations, permitted and current. The registry has already taken held credits out.
CREATE VIEW available_credits (
  organization_id, -- who owns the credits
  organization_name, -- its name
  project_id, -- the project that issued them
  project_name, -- its name
  vintage, -- year of the reduction
  type, -- exPost (issued) or exAnte (expected)
  amount, -- tonnes, to look at
  amount_micro, -- millionths of a tonne, exact; null where the sum is too large for that
  rows, -- how many rows of warehouse_credits
  rows_not_summed, -- how many of them have no amount_micro and are left out of the sum
  freshness, -- always current here
  complete_at, -- start of the last complete read of the warehouse
  age_seconds -- how long ago that was
) AS
SELECT * FROM warehouse_sums WHERE freshness = 'current';

-- What was there when it was last seen, of every warehouse that is not current. Do not sell from it.
CREATE VIEW last_known_credits (
  organization_id, -- who owns the credits
  organization_name, -- its name
  project_id, -- the project that issued them
  project_name, -- its name
  vintage, -- year of the reduction
  type, -- exPost (issued) or exAnte (expected)
  amount, -- tonnes, to look at
  amount_micro, -- millionths of a tonne, exact; null where the sum is too large for that
  rows, -- how many rows of warehouse_credits
  rows_not_summed, -- how many of them have no amount_micro and are left out of the sum
  freshness, -- why it is not current
  complete_at, -- start of the last complete read of the warehouse
  age_seconds -- how long ago that was
) AS
SELECT * FROM warehouse_sums WHERE freshness IS NOT 'current';

-- Retirements added up by beneficiary.
CREATE VIEW retirements_by_beneficiary (
  organization_id, -- who retired
  beneficiary, -- for whom; null where nobody has claimed it
  amount, -- tonnes, to look at
  amount_micro, -- millionths of a tonne, exact; null where the sum is too large for that
  rows, -- how many retirements
  rows_not_summed, -- how many of them have no amount_micro and are left out of the sum
  freshness, -- state of the organization's retirements in the view freshness
  complete_at, -- start of the last complete read of them
  age_seconds -- how long ago that was
) AS
SELECT s.organization_id, nullif(s.value, ''), s.tonnes + s.micro / 1000000.0,
  CASE WHEN abs(s.tonnes) < 9000000000000 THEN s.tonnes * 1000000 + s.micro END,
  s.rows, s.rows_not_summed, f.state, f.complete_at, f.age_seconds
FROM retirement_sums AS s
LEFT JOIN freshness AS f ON f.organization_id = s.organization_id AND f.resource = 'retirements'
WHERE s.kind = 'beneficiary' AND s.rows > 0;

-- Retirements added up by month of their creation, in UTC.
CREATE VIEW retirements_by_month (
  organization_id, -- who retired
  month, -- YYYY-MM; null where the registry sent no usable date
  amount, -- tonnes, to look at
  amount_micro, -- millionths of a tonne, exact; null where the sum is too large for that
  rows, -- how many retirements
  rows_not_summed, -- how many of them have no amount_micro and are left out of the sum
  freshness, -- state of the organization's retirements in the view freshness
  complete_at, -- start of the last complete read of them
  age_seconds -- how long ago that was
) AS
SELECT s.organization_id, nullif(s.value, ''), s.tonnes + s.micro / 1000000.0,
  CASE WHEN abs(s.tonnes) < 9000000000000 THEN s.tonnes * 1000000 + s.micro END,
  s.rows, s.rows_not_summed, f.state, f.complete_at, f.age_seconds
FROM retirement_sums AS s
LEFT JOIN freshness AS f ON f.organization_id = s.organization_id AND f.resource = 'retirements'
WHERE s.kind = 'month' AND s.rows > 0;

-- Retirements whose certificate is not here: not asked for yet, or there is none yet.
CREATE VIEW certificates_missing (
  organization_id, -- whose retirement
  retirement_id, -- the retirement
  state, -- pending or unavailable
  checked_at, -- when the registry was last asked for it; null where it never was
  due_at, -- when it is to be asked next; null where that is at once
  attempts, -- questions in a row that brought no file
  error -- why the latest answer was not stored
) AS
SELECT organization_id, retirement_id, state, checked_at, due_at, attempts, error
FROM certificates
WHERE state <> 'stored'
UNION ALL
SELECT r.organization_id, r.id, 'pending', NULL, NULL, 0, NULL
FROM retirements AS r
WHERE r.version > (SELECT retirement_version FROM certificate_mark)
  AND NOT EXISTS (
    SELECT 1 FROM certificates AS c WHERE c.organization_id = r.organization_id AND c.retirement_id = r.id
  );

-- Scheduled runs that found changes of which no delivery had told. Each one is a lost or missing webhook.
CREATE VIEW drift (
  sync_run_id, -- the run that found it
  organization_id, -- whose resource
  resource, -- what had changed
  started_at, -- when the run began
  drift, -- how many rows
  rows_added, -- rows that were not there before
  rows_changed, -- rows that got a new version
  rows_removed -- rows that were closed
) AS
SELECT id, organization_id, resource, started_at, drift, rows_added, rows_changed, rows_removed
FROM sync_runs
WHERE drift > 0;

-- Reservations as they stand at this moment: a hold ends by the clock, without any event.
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
  valid_from, -- start of the read that found this version; the registry may have changed earlier
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  state_now, -- outstanding, finished, cancelled or expired, worked out when this is read
  seconds_left -- how long the hold still lasts; null unless it is outstanding
) AS
WITH reckoned AS (
  SELECT *, CASE
    WHEN is_complete = 1 OR lower(state) = 'finished' THEN 'finished'
    WHEN lower(state) = 'cancelled' THEN 'cancelled'
    WHEN lower(state) = 'expired' OR unixepoch(reserved_to_at, 'subsec') <= unixepoch('now', 'subsec') THEN 'expired'
    ELSE 'outstanding'
  END AS state_now
  FROM reservations
)
SELECT version, organization_id, id, credit_id, serialization, type, amount, amount_micro, amount_exact, fault, project_id, project_name, reserver_id, reserver_name, state, is_complete, reserved_to_at, created_at, updated_at, valid_from, sync_run_id, state_now,
  CASE WHEN state_now = 'outstanding' THEN CAST(unixepoch(reserved_to_at, 'subsec') - unixepoch('now', 'subsec') AS INTEGER) END
FROM reckoned;
