ALTER TABLE sync_runs ADD COLUMN last_number INTEGER; -- the newest number of the counter when the run last changed a row: none of its changes has a later one; null where it changed none

CREATE TEMP TABLE numbers (run INTEGER PRIMARY KEY, number INTEGER NOT NULL) STRICT;
-- Of closings only those that this schema has seen: earlier ones were given numbers later.
INSERT INTO numbers
SELECT run, max(number) FROM (
  SELECT sync_run_id AS run, max(version) AS number FROM installations GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id, max(version) FROM installations_past GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id AS run, max(version) AS number FROM warehouse_credits GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id, max(version) FROM warehouse_credits_past GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id AS run, max(version) AS number FROM reservations GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id, max(version) FROM reservations_past GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id AS run, max(version) AS number FROM inventory_credits GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id, max(version) FROM inventory_credits_past GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id AS run, max(version) AS number FROM inventory_requests GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id, max(version) FROM inventory_requests_past GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id AS run, max(version) AS number FROM organizations GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id, max(version) FROM organizations_past GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id AS run, max(version) AS number FROM addresses GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id, max(version) FROM addresses_past GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id AS run, max(version) AS number FROM members GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id, max(version) FROM members_past GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id AS run, max(version) AS number FROM retirements GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id, max(version) FROM retirements_past GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id AS run, max(version) AS number FROM projects GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id, max(version) FROM projects_past GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id AS run, max(version) AS number FROM certificates GROUP BY sync_run_id
  UNION ALL
  SELECT sync_run_id, max(version) FROM certificates_past GROUP BY sync_run_id
) WHERE run IS NOT NULL GROUP BY run;
UPDATE sync_runs SET last_number = n.number FROM numbers AS n WHERE n.run = sync_runs.id;
DROP TABLE numbers;

-- Where the changes since an instant begin: after those of the runs that had ended by then.
CREATE INDEX sync_runs_that_changed ON sync_runs (finished_at) WHERE last_number IS NOT NULL;

-- Every change of every resource, once: what was added, changed or removed, in the order of the numbers, and what found it. A row comes with its columns, without amount (amount_exact says it), instants, run and document. Of certificates those that were stored. Whoever keeps the last number finds the next by number > it.
CREATE VIEW changes (
  number, -- number of the counter that the change took as it was committed: the version of the new row, or closed_version where the row is gone
  learnt_at, -- when the answer that showed it had arrived; the registry may have changed earlier
  organization_id, -- the organization that it belongs to; null for what belongs to nobody
  organization_name, -- its name
  resource, -- what changed, by its word in sync_runs
  id, -- id of the row: of a credit its credit_id, of a certificate its retirement_id
  change, -- added, changed or removed
  before, -- what stood there, a JSON object of columns; null where the row is new
  after, -- what stands there since, a JSON object of columns; null where the row is gone
  changed_columns, -- names of the columns that differ, with commas between; 'document' where they differ in nothing that has a column; null where the row is new or gone
  sync_run_id, -- the sync run that found it; old runs are removed in time
  trigger, -- what asked for that run: delivery, schedule, worker or a person
  job_id, -- the job of the inbox that did it; null where none did
  delivery_id -- the newest delivery that this job answers; null where none had asked for it
) AS
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'installation', n.id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('id', p.id, 'organization_id', p.organization_id, 'app_id', p.app_id, 'state', p.state, 'permissions', p.permissions, 'created_at', p.created_at, 'updated_at', p.updated_at) END,
  json_object('id', n.id, 'organization_id', n.organization_id, 'app_id', n.app_id, 'state', n.state, 'permissions', n.permissions, 'created_at', n.created_at, 'updated_at', n.updated_at),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.organization_id IS DISTINCT FROM p.organization_id THEN 'organization_id,' ELSE '' END || CASE WHEN n.app_id IS DISTINCT FROM p.app_id THEN 'app_id,' ELSE '' END || CASE WHEN n.state IS DISTINCT FROM p.state THEN 'state,' ELSE '' END || CASE WHEN n.permissions IS DISTINCT FROM p.permissions THEN 'permissions,' ELSE '' END || CASE WHEN n.created_at IS DISTINCT FROM p.created_at THEN 'created_at,' ELSE '' END || CASE WHEN n.updated_at IS DISTINCT FROM p.updated_at THEN 'updated_at,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM installations AS n LEFT JOIN installations_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'installation', n.id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('id', p.id, 'organization_id', p.organization_id, 'app_id', p.app_id, 'state', p.state, 'permissions', p.permissions, 'created_at', p.created_at, 'updated_at', p.updated_at) END,
  json_object('id', n.id, 'organization_id', n.organization_id, 'app_id', n.app_id, 'state', n.state, 'permissions', n.permissions, 'created_at', n.created_at, 'updated_at', n.updated_at),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.organization_id IS DISTINCT FROM p.organization_id THEN 'organization_id,' ELSE '' END || CASE WHEN n.app_id IS DISTINCT FROM p.app_id THEN 'app_id,' ELSE '' END || CASE WHEN n.state IS DISTINCT FROM p.state THEN 'state,' ELSE '' END || CASE WHEN n.permissions IS DISTINCT FROM p.permissions THEN 'permissions,' ELSE '' END || CASE WHEN n.created_at IS DISTINCT FROM p.created_at THEN 'created_at,' ELSE '' END || CASE WHEN n.updated_at IS DISTINCT FROM p.updated_at THEN 'updated_at,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM installations_past AS n LEFT JOIN installations_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, o.full_name, 'installation', p.id, 'removed',
  json_object('id', p.id, 'organization_id', p.organization_id, 'app_id', p.app_id, 'state', p.state, 'permissions', p.permissions, 'created_at', p.created_at, 'updated_at', p.updated_at),
  NULL, NULL, p.closed_by, r.trigger, r.job_id, r.delivery_id
FROM installations_past AS p
LEFT JOIN organizations AS o ON o.id = p.organization_id LEFT JOIN sync_runs AS r ON r.id = p.closed_by
WHERE NOT EXISTS (SELECT 1 FROM installations AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM installations_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'warehouse', n.credit_id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('credit_id', p.credit_id, 'inventory_id', p.inventory_id, 'project_id', p.project_id, 'project_name', p.project_name, 'serialization', p.serialization, 'vintage', p.vintage, 'type', p.type, 'token_id', p.token_id, 'token_address', p.token_address, 'unit', p.unit, 'amount_micro', p.amount_micro, 'amount_exact', p.amount_exact, 'fault', p.fault) END,
  json_object('credit_id', n.credit_id, 'inventory_id', n.inventory_id, 'project_id', n.project_id, 'project_name', n.project_name, 'serialization', n.serialization, 'vintage', n.vintage, 'type', n.type, 'token_id', n.token_id, 'token_address', n.token_address, 'unit', n.unit, 'amount_micro', n.amount_micro, 'amount_exact', n.amount_exact, 'fault', n.fault),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.project_id IS DISTINCT FROM p.project_id THEN 'project_id,' ELSE '' END || CASE WHEN n.project_name IS DISTINCT FROM p.project_name THEN 'project_name,' ELSE '' END || CASE WHEN n.serialization IS DISTINCT FROM p.serialization THEN 'serialization,' ELSE '' END || CASE WHEN n.vintage IS DISTINCT FROM p.vintage THEN 'vintage,' ELSE '' END || CASE WHEN n.type IS DISTINCT FROM p.type THEN 'type,' ELSE '' END || CASE WHEN n.token_id IS DISTINCT FROM p.token_id THEN 'token_id,' ELSE '' END || CASE WHEN n.token_address IS DISTINCT FROM p.token_address THEN 'token_address,' ELSE '' END || CASE WHEN n.unit IS DISTINCT FROM p.unit THEN 'unit,' ELSE '' END || CASE WHEN n.amount_micro IS DISTINCT FROM p.amount_micro THEN 'amount_micro,' ELSE '' END || CASE WHEN n.amount_exact IS DISTINCT FROM p.amount_exact THEN 'amount_exact,' ELSE '' END || CASE WHEN n.fault IS DISTINCT FROM p.fault THEN 'fault,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM warehouse_credits AS n LEFT JOIN warehouse_credits_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'warehouse', n.credit_id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('credit_id', p.credit_id, 'inventory_id', p.inventory_id, 'project_id', p.project_id, 'project_name', p.project_name, 'serialization', p.serialization, 'vintage', p.vintage, 'type', p.type, 'token_id', p.token_id, 'token_address', p.token_address, 'unit', p.unit, 'amount_micro', p.amount_micro, 'amount_exact', p.amount_exact, 'fault', p.fault) END,
  json_object('credit_id', n.credit_id, 'inventory_id', n.inventory_id, 'project_id', n.project_id, 'project_name', n.project_name, 'serialization', n.serialization, 'vintage', n.vintage, 'type', n.type, 'token_id', n.token_id, 'token_address', n.token_address, 'unit', n.unit, 'amount_micro', n.amount_micro, 'amount_exact', n.amount_exact, 'fault', n.fault),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.project_id IS DISTINCT FROM p.project_id THEN 'project_id,' ELSE '' END || CASE WHEN n.project_name IS DISTINCT FROM p.project_name THEN 'project_name,' ELSE '' END || CASE WHEN n.serialization IS DISTINCT FROM p.serialization THEN 'serialization,' ELSE '' END || CASE WHEN n.vintage IS DISTINCT FROM p.vintage THEN 'vintage,' ELSE '' END || CASE WHEN n.type IS DISTINCT FROM p.type THEN 'type,' ELSE '' END || CASE WHEN n.token_id IS DISTINCT FROM p.token_id THEN 'token_id,' ELSE '' END || CASE WHEN n.token_address IS DISTINCT FROM p.token_address THEN 'token_address,' ELSE '' END || CASE WHEN n.unit IS DISTINCT FROM p.unit THEN 'unit,' ELSE '' END || CASE WHEN n.amount_micro IS DISTINCT FROM p.amount_micro THEN 'amount_micro,' ELSE '' END || CASE WHEN n.amount_exact IS DISTINCT FROM p.amount_exact THEN 'amount_exact,' ELSE '' END || CASE WHEN n.fault IS DISTINCT FROM p.fault THEN 'fault,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM warehouse_credits_past AS n LEFT JOIN warehouse_credits_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, o.full_name, 'warehouse', p.credit_id, 'removed',
  json_object('credit_id', p.credit_id, 'inventory_id', p.inventory_id, 'project_id', p.project_id, 'project_name', p.project_name, 'serialization', p.serialization, 'vintage', p.vintage, 'type', p.type, 'token_id', p.token_id, 'token_address', p.token_address, 'unit', p.unit, 'amount_micro', p.amount_micro, 'amount_exact', p.amount_exact, 'fault', p.fault),
  NULL, NULL, p.closed_by, r.trigger, r.job_id, r.delivery_id
FROM warehouse_credits_past AS p
LEFT JOIN organizations AS o ON o.id = p.organization_id LEFT JOIN sync_runs AS r ON r.id = p.closed_by
WHERE NOT EXISTS (SELECT 1 FROM warehouse_credits AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM warehouse_credits_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'reservations', n.id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('id', p.id, 'credit_id', p.credit_id, 'serialization', p.serialization, 'type', p.type, 'amount_micro', p.amount_micro, 'amount_exact', p.amount_exact, 'fault', p.fault, 'project_id', p.project_id, 'project_name', p.project_name, 'reserver_id', p.reserver_id, 'reserver_name', p.reserver_name, 'state', p.state, 'is_complete', p.is_complete, 'reserved_to_at', p.reserved_to_at, 'created_at', p.created_at, 'updated_at', p.updated_at) END,
  json_object('id', n.id, 'credit_id', n.credit_id, 'serialization', n.serialization, 'type', n.type, 'amount_micro', n.amount_micro, 'amount_exact', n.amount_exact, 'fault', n.fault, 'project_id', n.project_id, 'project_name', n.project_name, 'reserver_id', n.reserver_id, 'reserver_name', n.reserver_name, 'state', n.state, 'is_complete', n.is_complete, 'reserved_to_at', n.reserved_to_at, 'created_at', n.created_at, 'updated_at', n.updated_at),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.credit_id IS DISTINCT FROM p.credit_id THEN 'credit_id,' ELSE '' END || CASE WHEN n.serialization IS DISTINCT FROM p.serialization THEN 'serialization,' ELSE '' END || CASE WHEN n.type IS DISTINCT FROM p.type THEN 'type,' ELSE '' END || CASE WHEN n.amount_micro IS DISTINCT FROM p.amount_micro THEN 'amount_micro,' ELSE '' END || CASE WHEN n.amount_exact IS DISTINCT FROM p.amount_exact THEN 'amount_exact,' ELSE '' END || CASE WHEN n.fault IS DISTINCT FROM p.fault THEN 'fault,' ELSE '' END || CASE WHEN n.project_id IS DISTINCT FROM p.project_id THEN 'project_id,' ELSE '' END || CASE WHEN n.project_name IS DISTINCT FROM p.project_name THEN 'project_name,' ELSE '' END || CASE WHEN n.reserver_id IS DISTINCT FROM p.reserver_id THEN 'reserver_id,' ELSE '' END || CASE WHEN n.reserver_name IS DISTINCT FROM p.reserver_name THEN 'reserver_name,' ELSE '' END || CASE WHEN n.state IS DISTINCT FROM p.state THEN 'state,' ELSE '' END || CASE WHEN n.is_complete IS DISTINCT FROM p.is_complete THEN 'is_complete,' ELSE '' END || CASE WHEN n.reserved_to_at IS DISTINCT FROM p.reserved_to_at THEN 'reserved_to_at,' ELSE '' END || CASE WHEN n.created_at IS DISTINCT FROM p.created_at THEN 'created_at,' ELSE '' END || CASE WHEN n.updated_at IS DISTINCT FROM p.updated_at THEN 'updated_at,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM reservations AS n LEFT JOIN reservations_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'reservations', n.id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('id', p.id, 'credit_id', p.credit_id, 'serialization', p.serialization, 'type', p.type, 'amount_micro', p.amount_micro, 'amount_exact', p.amount_exact, 'fault', p.fault, 'project_id', p.project_id, 'project_name', p.project_name, 'reserver_id', p.reserver_id, 'reserver_name', p.reserver_name, 'state', p.state, 'is_complete', p.is_complete, 'reserved_to_at', p.reserved_to_at, 'created_at', p.created_at, 'updated_at', p.updated_at) END,
  json_object('id', n.id, 'credit_id', n.credit_id, 'serialization', n.serialization, 'type', n.type, 'amount_micro', n.amount_micro, 'amount_exact', n.amount_exact, 'fault', n.fault, 'project_id', n.project_id, 'project_name', n.project_name, 'reserver_id', n.reserver_id, 'reserver_name', n.reserver_name, 'state', n.state, 'is_complete', n.is_complete, 'reserved_to_at', n.reserved_to_at, 'created_at', n.created_at, 'updated_at', n.updated_at),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.credit_id IS DISTINCT FROM p.credit_id THEN 'credit_id,' ELSE '' END || CASE WHEN n.serialization IS DISTINCT FROM p.serialization THEN 'serialization,' ELSE '' END || CASE WHEN n.type IS DISTINCT FROM p.type THEN 'type,' ELSE '' END || CASE WHEN n.amount_micro IS DISTINCT FROM p.amount_micro THEN 'amount_micro,' ELSE '' END || CASE WHEN n.amount_exact IS DISTINCT FROM p.amount_exact THEN 'amount_exact,' ELSE '' END || CASE WHEN n.fault IS DISTINCT FROM p.fault THEN 'fault,' ELSE '' END || CASE WHEN n.project_id IS DISTINCT FROM p.project_id THEN 'project_id,' ELSE '' END || CASE WHEN n.project_name IS DISTINCT FROM p.project_name THEN 'project_name,' ELSE '' END || CASE WHEN n.reserver_id IS DISTINCT FROM p.reserver_id THEN 'reserver_id,' ELSE '' END || CASE WHEN n.reserver_name IS DISTINCT FROM p.reserver_name THEN 'reserver_name,' ELSE '' END || CASE WHEN n.state IS DISTINCT FROM p.state THEN 'state,' ELSE '' END || CASE WHEN n.is_complete IS DISTINCT FROM p.is_complete THEN 'is_complete,' ELSE '' END || CASE WHEN n.reserved_to_at IS DISTINCT FROM p.reserved_to_at THEN 'reserved_to_at,' ELSE '' END || CASE WHEN n.created_at IS DISTINCT FROM p.created_at THEN 'created_at,' ELSE '' END || CASE WHEN n.updated_at IS DISTINCT FROM p.updated_at THEN 'updated_at,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM reservations_past AS n LEFT JOIN reservations_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, o.full_name, 'reservations', p.id, 'removed',
  json_object('id', p.id, 'credit_id', p.credit_id, 'serialization', p.serialization, 'type', p.type, 'amount_micro', p.amount_micro, 'amount_exact', p.amount_exact, 'fault', p.fault, 'project_id', p.project_id, 'project_name', p.project_name, 'reserver_id', p.reserver_id, 'reserver_name', p.reserver_name, 'state', p.state, 'is_complete', p.is_complete, 'reserved_to_at', p.reserved_to_at, 'created_at', p.created_at, 'updated_at', p.updated_at),
  NULL, NULL, p.closed_by, r.trigger, r.job_id, r.delivery_id
FROM reservations_past AS p
LEFT JOIN organizations AS o ON o.id = p.organization_id LEFT JOIN sync_runs AS r ON r.id = p.closed_by
WHERE NOT EXISTS (SELECT 1 FROM reservations AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM reservations_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'inventory', n.credit_id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('credit_id', p.credit_id, 'inventory_id', p.inventory_id, 'project_id', p.project_id, 'project_name', p.project_name, 'serialization', p.serialization, 'vintage', p.vintage, 'type', p.type, 'token_id', p.token_id, 'token_address', p.token_address, 'unit', p.unit, 'amount_micro', p.amount_micro, 'amount_exact', p.amount_exact, 'fault', p.fault) END,
  json_object('credit_id', n.credit_id, 'inventory_id', n.inventory_id, 'project_id', n.project_id, 'project_name', n.project_name, 'serialization', n.serialization, 'vintage', n.vintage, 'type', n.type, 'token_id', n.token_id, 'token_address', n.token_address, 'unit', n.unit, 'amount_micro', n.amount_micro, 'amount_exact', n.amount_exact, 'fault', n.fault),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.project_id IS DISTINCT FROM p.project_id THEN 'project_id,' ELSE '' END || CASE WHEN n.project_name IS DISTINCT FROM p.project_name THEN 'project_name,' ELSE '' END || CASE WHEN n.serialization IS DISTINCT FROM p.serialization THEN 'serialization,' ELSE '' END || CASE WHEN n.vintage IS DISTINCT FROM p.vintage THEN 'vintage,' ELSE '' END || CASE WHEN n.type IS DISTINCT FROM p.type THEN 'type,' ELSE '' END || CASE WHEN n.token_id IS DISTINCT FROM p.token_id THEN 'token_id,' ELSE '' END || CASE WHEN n.token_address IS DISTINCT FROM p.token_address THEN 'token_address,' ELSE '' END || CASE WHEN n.unit IS DISTINCT FROM p.unit THEN 'unit,' ELSE '' END || CASE WHEN n.amount_micro IS DISTINCT FROM p.amount_micro THEN 'amount_micro,' ELSE '' END || CASE WHEN n.amount_exact IS DISTINCT FROM p.amount_exact THEN 'amount_exact,' ELSE '' END || CASE WHEN n.fault IS DISTINCT FROM p.fault THEN 'fault,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM inventory_credits AS n LEFT JOIN inventory_credits_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'inventory', n.credit_id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('credit_id', p.credit_id, 'inventory_id', p.inventory_id, 'project_id', p.project_id, 'project_name', p.project_name, 'serialization', p.serialization, 'vintage', p.vintage, 'type', p.type, 'token_id', p.token_id, 'token_address', p.token_address, 'unit', p.unit, 'amount_micro', p.amount_micro, 'amount_exact', p.amount_exact, 'fault', p.fault) END,
  json_object('credit_id', n.credit_id, 'inventory_id', n.inventory_id, 'project_id', n.project_id, 'project_name', n.project_name, 'serialization', n.serialization, 'vintage', n.vintage, 'type', n.type, 'token_id', n.token_id, 'token_address', n.token_address, 'unit', n.unit, 'amount_micro', n.amount_micro, 'amount_exact', n.amount_exact, 'fault', n.fault),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.project_id IS DISTINCT FROM p.project_id THEN 'project_id,' ELSE '' END || CASE WHEN n.project_name IS DISTINCT FROM p.project_name THEN 'project_name,' ELSE '' END || CASE WHEN n.serialization IS DISTINCT FROM p.serialization THEN 'serialization,' ELSE '' END || CASE WHEN n.vintage IS DISTINCT FROM p.vintage THEN 'vintage,' ELSE '' END || CASE WHEN n.type IS DISTINCT FROM p.type THEN 'type,' ELSE '' END || CASE WHEN n.token_id IS DISTINCT FROM p.token_id THEN 'token_id,' ELSE '' END || CASE WHEN n.token_address IS DISTINCT FROM p.token_address THEN 'token_address,' ELSE '' END || CASE WHEN n.unit IS DISTINCT FROM p.unit THEN 'unit,' ELSE '' END || CASE WHEN n.amount_micro IS DISTINCT FROM p.amount_micro THEN 'amount_micro,' ELSE '' END || CASE WHEN n.amount_exact IS DISTINCT FROM p.amount_exact THEN 'amount_exact,' ELSE '' END || CASE WHEN n.fault IS DISTINCT FROM p.fault THEN 'fault,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM inventory_credits_past AS n LEFT JOIN inventory_credits_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, o.full_name, 'inventory', p.credit_id, 'removed',
  json_object('credit_id', p.credit_id, 'inventory_id', p.inventory_id, 'project_id', p.project_id, 'project_name', p.project_name, 'serialization', p.serialization, 'vintage', p.vintage, 'type', p.type, 'token_id', p.token_id, 'token_address', p.token_address, 'unit', p.unit, 'amount_micro', p.amount_micro, 'amount_exact', p.amount_exact, 'fault', p.fault),
  NULL, NULL, p.closed_by, r.trigger, r.job_id, r.delivery_id
FROM inventory_credits_past AS p
LEFT JOIN organizations AS o ON o.id = p.organization_id LEFT JOIN sync_runs AS r ON r.id = p.closed_by
WHERE NOT EXISTS (SELECT 1 FROM inventory_credits AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM inventory_credits_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'inventory_requests', n.id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('id', p.id, 'credit_id', p.credit_id, 'action', p.action, 'state', p.state, 'type', p.type, 'serialization', p.serialization, 'vintage', p.vintage, 'amount_micro', p.amount_micro, 'amount_exact', p.amount_exact, 'fault', p.fault, 'from_organization_id', p.from_organization_id, 'to_organization_id', p.to_organization_id, 'to_address', p.to_address, 'project_id', p.project_id, 'project_name', p.project_name, 'tx_id', p.tx_id, 'retirement_reason', p.retirement_reason, 'beneficiary', p.beneficiary, 'retirement_comment', p.retirement_comment, 'created_at', p.created_at, 'updated_at', p.updated_at) END,
  json_object('id', n.id, 'credit_id', n.credit_id, 'action', n.action, 'state', n.state, 'type', n.type, 'serialization', n.serialization, 'vintage', n.vintage, 'amount_micro', n.amount_micro, 'amount_exact', n.amount_exact, 'fault', n.fault, 'from_organization_id', n.from_organization_id, 'to_organization_id', n.to_organization_id, 'to_address', n.to_address, 'project_id', n.project_id, 'project_name', n.project_name, 'tx_id', n.tx_id, 'retirement_reason', n.retirement_reason, 'beneficiary', n.beneficiary, 'retirement_comment', n.retirement_comment, 'created_at', n.created_at, 'updated_at', n.updated_at),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.credit_id IS DISTINCT FROM p.credit_id THEN 'credit_id,' ELSE '' END || CASE WHEN n.action IS DISTINCT FROM p.action THEN 'action,' ELSE '' END || CASE WHEN n.state IS DISTINCT FROM p.state THEN 'state,' ELSE '' END || CASE WHEN n.type IS DISTINCT FROM p.type THEN 'type,' ELSE '' END || CASE WHEN n.serialization IS DISTINCT FROM p.serialization THEN 'serialization,' ELSE '' END || CASE WHEN n.vintage IS DISTINCT FROM p.vintage THEN 'vintage,' ELSE '' END || CASE WHEN n.amount_micro IS DISTINCT FROM p.amount_micro THEN 'amount_micro,' ELSE '' END || CASE WHEN n.amount_exact IS DISTINCT FROM p.amount_exact THEN 'amount_exact,' ELSE '' END || CASE WHEN n.fault IS DISTINCT FROM p.fault THEN 'fault,' ELSE '' END || CASE WHEN n.from_organization_id IS DISTINCT FROM p.from_organization_id THEN 'from_organization_id,' ELSE '' END || CASE WHEN n.to_organization_id IS DISTINCT FROM p.to_organization_id THEN 'to_organization_id,' ELSE '' END || CASE WHEN n.to_address IS DISTINCT FROM p.to_address THEN 'to_address,' ELSE '' END || CASE WHEN n.project_id IS DISTINCT FROM p.project_id THEN 'project_id,' ELSE '' END || CASE WHEN n.project_name IS DISTINCT FROM p.project_name THEN 'project_name,' ELSE '' END || CASE WHEN n.tx_id IS DISTINCT FROM p.tx_id THEN 'tx_id,' ELSE '' END || CASE WHEN n.retirement_reason IS DISTINCT FROM p.retirement_reason THEN 'retirement_reason,' ELSE '' END || CASE WHEN n.beneficiary IS DISTINCT FROM p.beneficiary THEN 'beneficiary,' ELSE '' END || CASE WHEN n.retirement_comment IS DISTINCT FROM p.retirement_comment THEN 'retirement_comment,' ELSE '' END || CASE WHEN n.created_at IS DISTINCT FROM p.created_at THEN 'created_at,' ELSE '' END || CASE WHEN n.updated_at IS DISTINCT FROM p.updated_at THEN 'updated_at,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM inventory_requests AS n LEFT JOIN inventory_requests_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'inventory_requests', n.id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('id', p.id, 'credit_id', p.credit_id, 'action', p.action, 'state', p.state, 'type', p.type, 'serialization', p.serialization, 'vintage', p.vintage, 'amount_micro', p.amount_micro, 'amount_exact', p.amount_exact, 'fault', p.fault, 'from_organization_id', p.from_organization_id, 'to_organization_id', p.to_organization_id, 'to_address', p.to_address, 'project_id', p.project_id, 'project_name', p.project_name, 'tx_id', p.tx_id, 'retirement_reason', p.retirement_reason, 'beneficiary', p.beneficiary, 'retirement_comment', p.retirement_comment, 'created_at', p.created_at, 'updated_at', p.updated_at) END,
  json_object('id', n.id, 'credit_id', n.credit_id, 'action', n.action, 'state', n.state, 'type', n.type, 'serialization', n.serialization, 'vintage', n.vintage, 'amount_micro', n.amount_micro, 'amount_exact', n.amount_exact, 'fault', n.fault, 'from_organization_id', n.from_organization_id, 'to_organization_id', n.to_organization_id, 'to_address', n.to_address, 'project_id', n.project_id, 'project_name', n.project_name, 'tx_id', n.tx_id, 'retirement_reason', n.retirement_reason, 'beneficiary', n.beneficiary, 'retirement_comment', n.retirement_comment, 'created_at', n.created_at, 'updated_at', n.updated_at),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.credit_id IS DISTINCT FROM p.credit_id THEN 'credit_id,' ELSE '' END || CASE WHEN n.action IS DISTINCT FROM p.action THEN 'action,' ELSE '' END || CASE WHEN n.state IS DISTINCT FROM p.state THEN 'state,' ELSE '' END || CASE WHEN n.type IS DISTINCT FROM p.type THEN 'type,' ELSE '' END || CASE WHEN n.serialization IS DISTINCT FROM p.serialization THEN 'serialization,' ELSE '' END || CASE WHEN n.vintage IS DISTINCT FROM p.vintage THEN 'vintage,' ELSE '' END || CASE WHEN n.amount_micro IS DISTINCT FROM p.amount_micro THEN 'amount_micro,' ELSE '' END || CASE WHEN n.amount_exact IS DISTINCT FROM p.amount_exact THEN 'amount_exact,' ELSE '' END || CASE WHEN n.fault IS DISTINCT FROM p.fault THEN 'fault,' ELSE '' END || CASE WHEN n.from_organization_id IS DISTINCT FROM p.from_organization_id THEN 'from_organization_id,' ELSE '' END || CASE WHEN n.to_organization_id IS DISTINCT FROM p.to_organization_id THEN 'to_organization_id,' ELSE '' END || CASE WHEN n.to_address IS DISTINCT FROM p.to_address THEN 'to_address,' ELSE '' END || CASE WHEN n.project_id IS DISTINCT FROM p.project_id THEN 'project_id,' ELSE '' END || CASE WHEN n.project_name IS DISTINCT FROM p.project_name THEN 'project_name,' ELSE '' END || CASE WHEN n.tx_id IS DISTINCT FROM p.tx_id THEN 'tx_id,' ELSE '' END || CASE WHEN n.retirement_reason IS DISTINCT FROM p.retirement_reason THEN 'retirement_reason,' ELSE '' END || CASE WHEN n.beneficiary IS DISTINCT FROM p.beneficiary THEN 'beneficiary,' ELSE '' END || CASE WHEN n.retirement_comment IS DISTINCT FROM p.retirement_comment THEN 'retirement_comment,' ELSE '' END || CASE WHEN n.created_at IS DISTINCT FROM p.created_at THEN 'created_at,' ELSE '' END || CASE WHEN n.updated_at IS DISTINCT FROM p.updated_at THEN 'updated_at,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM inventory_requests_past AS n LEFT JOIN inventory_requests_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, o.full_name, 'inventory_requests', p.id, 'removed',
  json_object('id', p.id, 'credit_id', p.credit_id, 'action', p.action, 'state', p.state, 'type', p.type, 'serialization', p.serialization, 'vintage', p.vintage, 'amount_micro', p.amount_micro, 'amount_exact', p.amount_exact, 'fault', p.fault, 'from_organization_id', p.from_organization_id, 'to_organization_id', p.to_organization_id, 'to_address', p.to_address, 'project_id', p.project_id, 'project_name', p.project_name, 'tx_id', p.tx_id, 'retirement_reason', p.retirement_reason, 'beneficiary', p.beneficiary, 'retirement_comment', p.retirement_comment, 'created_at', p.created_at, 'updated_at', p.updated_at),
  NULL, NULL, p.closed_by, r.trigger, r.job_id, r.delivery_id
FROM inventory_requests_past AS p
LEFT JOIN organizations AS o ON o.id = p.organization_id LEFT JOIN sync_runs AS r ON r.id = p.closed_by
WHERE NOT EXISTS (SELECT 1 FROM inventory_requests AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM inventory_requests_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.id, o.full_name, 'organization', n.id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('id', p.id, 'full_name', p.full_name, 'type', p.type, 'country_code', p.country_code, 'website', p.website, 'is_public', p.is_public, 'created_at', p.created_at, 'updated_at', p.updated_at) END,
  json_object('id', n.id, 'full_name', n.full_name, 'type', n.type, 'country_code', n.country_code, 'website', n.website, 'is_public', n.is_public, 'created_at', n.created_at, 'updated_at', n.updated_at),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.full_name IS DISTINCT FROM p.full_name THEN 'full_name,' ELSE '' END || CASE WHEN n.type IS DISTINCT FROM p.type THEN 'type,' ELSE '' END || CASE WHEN n.country_code IS DISTINCT FROM p.country_code THEN 'country_code,' ELSE '' END || CASE WHEN n.website IS DISTINCT FROM p.website THEN 'website,' ELSE '' END || CASE WHEN n.is_public IS DISTINCT FROM p.is_public THEN 'is_public,' ELSE '' END || CASE WHEN n.created_at IS DISTINCT FROM p.created_at THEN 'created_at,' ELSE '' END || CASE WHEN n.updated_at IS DISTINCT FROM p.updated_at THEN 'updated_at,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM organizations AS n LEFT JOIN organizations_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT n.version, n.valid_from, n.id, o.full_name, 'organization', n.id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('id', p.id, 'full_name', p.full_name, 'type', p.type, 'country_code', p.country_code, 'website', p.website, 'is_public', p.is_public, 'created_at', p.created_at, 'updated_at', p.updated_at) END,
  json_object('id', n.id, 'full_name', n.full_name, 'type', n.type, 'country_code', n.country_code, 'website', n.website, 'is_public', n.is_public, 'created_at', n.created_at, 'updated_at', n.updated_at),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.full_name IS DISTINCT FROM p.full_name THEN 'full_name,' ELSE '' END || CASE WHEN n.type IS DISTINCT FROM p.type THEN 'type,' ELSE '' END || CASE WHEN n.country_code IS DISTINCT FROM p.country_code THEN 'country_code,' ELSE '' END || CASE WHEN n.website IS DISTINCT FROM p.website THEN 'website,' ELSE '' END || CASE WHEN n.is_public IS DISTINCT FROM p.is_public THEN 'is_public,' ELSE '' END || CASE WHEN n.created_at IS DISTINCT FROM p.created_at THEN 'created_at,' ELSE '' END || CASE WHEN n.updated_at IS DISTINCT FROM p.updated_at THEN 'updated_at,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM organizations_past AS n LEFT JOIN organizations_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT p.closed_version, p.valid_to, p.id, o.full_name, 'organization', p.id, 'removed',
  json_object('id', p.id, 'full_name', p.full_name, 'type', p.type, 'country_code', p.country_code, 'website', p.website, 'is_public', p.is_public, 'created_at', p.created_at, 'updated_at', p.updated_at),
  NULL, NULL, p.closed_by, r.trigger, r.job_id, r.delivery_id
FROM organizations_past AS p
LEFT JOIN organizations AS o ON o.id = p.id LEFT JOIN sync_runs AS r ON r.id = p.closed_by
WHERE NOT EXISTS (SELECT 1 FROM organizations AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM organizations_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'addresses', n.id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('id', p.id, 'address', p.address, 'name', p.name, 'is_default', p.is_default) END,
  json_object('id', n.id, 'address', n.address, 'name', n.name, 'is_default', n.is_default),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.address IS DISTINCT FROM p.address THEN 'address,' ELSE '' END || CASE WHEN n.name IS DISTINCT FROM p.name THEN 'name,' ELSE '' END || CASE WHEN n.is_default IS DISTINCT FROM p.is_default THEN 'is_default,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM addresses AS n LEFT JOIN addresses_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'addresses', n.id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('id', p.id, 'address', p.address, 'name', p.name, 'is_default', p.is_default) END,
  json_object('id', n.id, 'address', n.address, 'name', n.name, 'is_default', n.is_default),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.address IS DISTINCT FROM p.address THEN 'address,' ELSE '' END || CASE WHEN n.name IS DISTINCT FROM p.name THEN 'name,' ELSE '' END || CASE WHEN n.is_default IS DISTINCT FROM p.is_default THEN 'is_default,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM addresses_past AS n LEFT JOIN addresses_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, o.full_name, 'addresses', p.id, 'removed',
  json_object('id', p.id, 'address', p.address, 'name', p.name, 'is_default', p.is_default),
  NULL, NULL, p.closed_by, r.trigger, r.job_id, r.delivery_id
FROM addresses_past AS p
LEFT JOIN organizations AS o ON o.id = p.organization_id LEFT JOIN sync_runs AS r ON r.id = p.closed_by
WHERE NOT EXISTS (SELECT 1 FROM addresses AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM addresses_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'members', n.id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('id', p.id, 'full_name', p.full_name, 'email', p.email) END,
  json_object('id', n.id, 'full_name', n.full_name, 'email', n.email),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.full_name IS DISTINCT FROM p.full_name THEN 'full_name,' ELSE '' END || CASE WHEN n.email IS DISTINCT FROM p.email THEN 'email,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM members AS n LEFT JOIN members_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'members', n.id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('id', p.id, 'full_name', p.full_name, 'email', p.email) END,
  json_object('id', n.id, 'full_name', n.full_name, 'email', n.email),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.full_name IS DISTINCT FROM p.full_name THEN 'full_name,' ELSE '' END || CASE WHEN n.email IS DISTINCT FROM p.email THEN 'email,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM members_past AS n LEFT JOIN members_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, o.full_name, 'members', p.id, 'removed',
  json_object('id', p.id, 'full_name', p.full_name, 'email', p.email),
  NULL, NULL, p.closed_by, r.trigger, r.job_id, r.delivery_id
FROM members_past AS p
LEFT JOIN organizations AS o ON o.id = p.organization_id LEFT JOIN sync_runs AS r ON r.id = p.closed_by
WHERE NOT EXISTS (SELECT 1 FROM members AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM members_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'retirements', n.id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('id', p.id, 'project_id', p.project_id, 'project_name', p.project_name, 'serialization', p.serialization, 'vintage', p.vintage, 'amount_micro', p.amount_micro, 'amount_exact', p.amount_exact, 'fault', p.fault, 'reason', p.reason, 'beneficiary', p.beneficiary, 'comment', p.comment, 'is_claimed', p.is_claimed, 'created_at', p.created_at) END,
  json_object('id', n.id, 'project_id', n.project_id, 'project_name', n.project_name, 'serialization', n.serialization, 'vintage', n.vintage, 'amount_micro', n.amount_micro, 'amount_exact', n.amount_exact, 'fault', n.fault, 'reason', n.reason, 'beneficiary', n.beneficiary, 'comment', n.comment, 'is_claimed', n.is_claimed, 'created_at', n.created_at),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.project_id IS DISTINCT FROM p.project_id THEN 'project_id,' ELSE '' END || CASE WHEN n.project_name IS DISTINCT FROM p.project_name THEN 'project_name,' ELSE '' END || CASE WHEN n.serialization IS DISTINCT FROM p.serialization THEN 'serialization,' ELSE '' END || CASE WHEN n.vintage IS DISTINCT FROM p.vintage THEN 'vintage,' ELSE '' END || CASE WHEN n.amount_micro IS DISTINCT FROM p.amount_micro THEN 'amount_micro,' ELSE '' END || CASE WHEN n.amount_exact IS DISTINCT FROM p.amount_exact THEN 'amount_exact,' ELSE '' END || CASE WHEN n.fault IS DISTINCT FROM p.fault THEN 'fault,' ELSE '' END || CASE WHEN n.reason IS DISTINCT FROM p.reason THEN 'reason,' ELSE '' END || CASE WHEN n.beneficiary IS DISTINCT FROM p.beneficiary THEN 'beneficiary,' ELSE '' END || CASE WHEN n.comment IS DISTINCT FROM p.comment THEN 'comment,' ELSE '' END || CASE WHEN n.is_claimed IS DISTINCT FROM p.is_claimed THEN 'is_claimed,' ELSE '' END || CASE WHEN n.created_at IS DISTINCT FROM p.created_at THEN 'created_at,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM retirements AS n LEFT JOIN retirements_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'retirements', n.id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('id', p.id, 'project_id', p.project_id, 'project_name', p.project_name, 'serialization', p.serialization, 'vintage', p.vintage, 'amount_micro', p.amount_micro, 'amount_exact', p.amount_exact, 'fault', p.fault, 'reason', p.reason, 'beneficiary', p.beneficiary, 'comment', p.comment, 'is_claimed', p.is_claimed, 'created_at', p.created_at) END,
  json_object('id', n.id, 'project_id', n.project_id, 'project_name', n.project_name, 'serialization', n.serialization, 'vintage', n.vintage, 'amount_micro', n.amount_micro, 'amount_exact', n.amount_exact, 'fault', n.fault, 'reason', n.reason, 'beneficiary', n.beneficiary, 'comment', n.comment, 'is_claimed', n.is_claimed, 'created_at', n.created_at),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.project_id IS DISTINCT FROM p.project_id THEN 'project_id,' ELSE '' END || CASE WHEN n.project_name IS DISTINCT FROM p.project_name THEN 'project_name,' ELSE '' END || CASE WHEN n.serialization IS DISTINCT FROM p.serialization THEN 'serialization,' ELSE '' END || CASE WHEN n.vintage IS DISTINCT FROM p.vintage THEN 'vintage,' ELSE '' END || CASE WHEN n.amount_micro IS DISTINCT FROM p.amount_micro THEN 'amount_micro,' ELSE '' END || CASE WHEN n.amount_exact IS DISTINCT FROM p.amount_exact THEN 'amount_exact,' ELSE '' END || CASE WHEN n.fault IS DISTINCT FROM p.fault THEN 'fault,' ELSE '' END || CASE WHEN n.reason IS DISTINCT FROM p.reason THEN 'reason,' ELSE '' END || CASE WHEN n.beneficiary IS DISTINCT FROM p.beneficiary THEN 'beneficiary,' ELSE '' END || CASE WHEN n.comment IS DISTINCT FROM p.comment THEN 'comment,' ELSE '' END || CASE WHEN n.is_claimed IS DISTINCT FROM p.is_claimed THEN 'is_claimed,' ELSE '' END || CASE WHEN n.created_at IS DISTINCT FROM p.created_at THEN 'created_at,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM retirements_past AS n LEFT JOIN retirements_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, o.full_name, 'retirements', p.id, 'removed',
  json_object('id', p.id, 'project_id', p.project_id, 'project_name', p.project_name, 'serialization', p.serialization, 'vintage', p.vintage, 'amount_micro', p.amount_micro, 'amount_exact', p.amount_exact, 'fault', p.fault, 'reason', p.reason, 'beneficiary', p.beneficiary, 'comment', p.comment, 'is_claimed', p.is_claimed, 'created_at', p.created_at),
  NULL, NULL, p.closed_by, r.trigger, r.job_id, r.delivery_id
FROM retirements_past AS p
LEFT JOIN organizations AS o ON o.id = p.organization_id LEFT JOIN sync_runs AS r ON r.id = p.closed_by
WHERE NOT EXISTS (SELECT 1 FROM retirements AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM retirements_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, CAST(NULL AS TEXT), CAST(NULL AS TEXT), 'projects', n.id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('id', p.id, 'num', p.num, 'full_name', p.full_name, 'short_description', p.short_description, 'status', p.status, 'registry', p.registry, 'country_code', p.country_code, 'sector', p.sector, 'methodology', p.methodology, 'type', p.type, 'start_date', p.start_date) END,
  json_object('id', n.id, 'num', n.num, 'full_name', n.full_name, 'short_description', n.short_description, 'status', n.status, 'registry', n.registry, 'country_code', n.country_code, 'sector', n.sector, 'methodology', n.methodology, 'type', n.type, 'start_date', n.start_date),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.num IS DISTINCT FROM p.num THEN 'num,' ELSE '' END || CASE WHEN n.full_name IS DISTINCT FROM p.full_name THEN 'full_name,' ELSE '' END || CASE WHEN n.short_description IS DISTINCT FROM p.short_description THEN 'short_description,' ELSE '' END || CASE WHEN n.status IS DISTINCT FROM p.status THEN 'status,' ELSE '' END || CASE WHEN n.registry IS DISTINCT FROM p.registry THEN 'registry,' ELSE '' END || CASE WHEN n.country_code IS DISTINCT FROM p.country_code THEN 'country_code,' ELSE '' END || CASE WHEN n.sector IS DISTINCT FROM p.sector THEN 'sector,' ELSE '' END || CASE WHEN n.methodology IS DISTINCT FROM p.methodology THEN 'methodology,' ELSE '' END || CASE WHEN n.type IS DISTINCT FROM p.type THEN 'type,' ELSE '' END || CASE WHEN n.start_date IS DISTINCT FROM p.start_date THEN 'start_date,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM projects AS n LEFT JOIN projects_past AS p ON p.closed_version = n.version
LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT n.version, n.valid_from, CAST(NULL AS TEXT), CAST(NULL AS TEXT), 'projects', n.id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('id', p.id, 'num', p.num, 'full_name', p.full_name, 'short_description', p.short_description, 'status', p.status, 'registry', p.registry, 'country_code', p.country_code, 'sector', p.sector, 'methodology', p.methodology, 'type', p.type, 'start_date', p.start_date) END,
  json_object('id', n.id, 'num', n.num, 'full_name', n.full_name, 'short_description', n.short_description, 'status', n.status, 'registry', n.registry, 'country_code', n.country_code, 'sector', n.sector, 'methodology', n.methodology, 'type', n.type, 'start_date', n.start_date),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.num IS DISTINCT FROM p.num THEN 'num,' ELSE '' END || CASE WHEN n.full_name IS DISTINCT FROM p.full_name THEN 'full_name,' ELSE '' END || CASE WHEN n.short_description IS DISTINCT FROM p.short_description THEN 'short_description,' ELSE '' END || CASE WHEN n.status IS DISTINCT FROM p.status THEN 'status,' ELSE '' END || CASE WHEN n.registry IS DISTINCT FROM p.registry THEN 'registry,' ELSE '' END || CASE WHEN n.country_code IS DISTINCT FROM p.country_code THEN 'country_code,' ELSE '' END || CASE WHEN n.sector IS DISTINCT FROM p.sector THEN 'sector,' ELSE '' END || CASE WHEN n.methodology IS DISTINCT FROM p.methodology THEN 'methodology,' ELSE '' END || CASE WHEN n.type IS DISTINCT FROM p.type THEN 'type,' ELSE '' END || CASE WHEN n.start_date IS DISTINCT FROM p.start_date THEN 'start_date,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM projects_past AS n LEFT JOIN projects_past AS p ON p.closed_version = n.version
LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
UNION ALL
SELECT p.closed_version, p.valid_to, CAST(NULL AS TEXT), CAST(NULL AS TEXT), 'projects', p.id, 'removed',
  json_object('id', p.id, 'num', p.num, 'full_name', p.full_name, 'short_description', p.short_description, 'status', p.status, 'registry', p.registry, 'country_code', p.country_code, 'sector', p.sector, 'methodology', p.methodology, 'type', p.type, 'start_date', p.start_date),
  NULL, NULL, p.closed_by, r.trigger, r.job_id, r.delivery_id
FROM projects_past AS p
LEFT JOIN sync_runs AS r ON r.id = p.closed_by
WHERE NOT EXISTS (SELECT 1 FROM projects AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM projects_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'certificates', n.retirement_id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('retirement_id', p.retirement_id, 'state', p.state, 'sha256', p.sha256, 'size', p.size, 'fetched_at', p.fetched_at) END,
  json_object('retirement_id', n.retirement_id, 'state', n.state, 'sha256', n.sha256, 'size', n.size, 'fetched_at', n.fetched_at),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.state IS DISTINCT FROM p.state THEN 'state,' ELSE '' END || CASE WHEN n.sha256 IS DISTINCT FROM p.sha256 THEN 'sha256,' ELSE '' END || CASE WHEN n.size IS DISTINCT FROM p.size THEN 'size,' ELSE '' END || CASE WHEN n.fetched_at IS DISTINCT FROM p.fetched_at THEN 'fetched_at,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM certificates AS n LEFT JOIN certificates_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
WHERE n.state = 'stored'
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, o.full_name, 'certificates', n.retirement_id,
  CASE WHEN p.version IS NULL THEN 'added' ELSE 'changed' END,
  CASE WHEN p.version IS NOT NULL THEN json_object('retirement_id', p.retirement_id, 'state', p.state, 'sha256', p.sha256, 'size', p.size, 'fetched_at', p.fetched_at) END,
  json_object('retirement_id', n.retirement_id, 'state', n.state, 'sha256', n.sha256, 'size', n.size, 'fetched_at', n.fetched_at),
  CASE WHEN p.version IS NOT NULL THEN coalesce(nullif(rtrim(CASE WHEN n.state IS DISTINCT FROM p.state THEN 'state,' ELSE '' END || CASE WHEN n.sha256 IS DISTINCT FROM p.sha256 THEN 'sha256,' ELSE '' END || CASE WHEN n.size IS DISTINCT FROM p.size THEN 'size,' ELSE '' END || CASE WHEN n.fetched_at IS DISTINCT FROM p.fetched_at THEN 'fetched_at,' ELSE '' END, ','), ''), 'document') END,
  n.sync_run_id, r.trigger, r.job_id, r.delivery_id
FROM certificates_past AS n LEFT JOIN certificates_past AS p ON p.closed_version = n.version
LEFT JOIN organizations AS o ON o.id = n.organization_id LEFT JOIN sync_runs AS r ON r.id = n.sync_run_id
WHERE n.state = 'stored'
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, o.full_name, 'certificates', p.retirement_id, 'removed',
  json_object('retirement_id', p.retirement_id, 'state', p.state, 'sha256', p.sha256, 'size', p.size, 'fetched_at', p.fetched_at),
  NULL, NULL, p.closed_by, r.trigger, r.job_id, r.delivery_id
FROM certificates_past AS p
LEFT JOIN organizations AS o ON o.id = p.organization_id LEFT JOIN sync_runs AS r ON r.id = p.closed_by
WHERE p.state = 'stored'
  AND NOT EXISTS (SELECT 1 FROM certificates AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM certificates_past AS n WHERE n.version = p.closed_version);
