-- Every change takes a number of the one counter as it commits: a new version its own, a row that is gone the one in
-- "closed_version". Whoever has seen all up to a number finds each later change once, in the order of these numbers;
-- what was purged, or forgotten for a person, leaves none. A first read is told of no order between rows that were gone
-- before this migration and others: only each row has its own changes in their order.
ALTER TABLE installations_past ADD COLUMN closed_version INTEGER NOT NULL DEFAULT 0; -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone. Before migration 0008: that of the next version of the row, however much later it came, or where none came one given by that migration, in the order of valid_to
ALTER TABLE organizations_past ADD COLUMN closed_version INTEGER NOT NULL DEFAULT 0; -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone. Before migration 0008: that of the next version of the row, however much later it came, or where none came one given by that migration, in the order of valid_to
ALTER TABLE projects_past ADD COLUMN closed_version INTEGER NOT NULL DEFAULT 0; -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone. Before migration 0008: that of the next version of the row, however much later it came, or where none came one given by that migration, in the order of valid_to
ALTER TABLE warehouse_credits_past ADD COLUMN closed_version INTEGER NOT NULL DEFAULT 0; -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone. Before migration 0008: that of the next version of the row, however much later it came, or where none came one given by that migration, in the order of valid_to
ALTER TABLE inventory_credits_past ADD COLUMN closed_version INTEGER NOT NULL DEFAULT 0; -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone. Before migration 0008: that of the next version of the row, however much later it came, or where none came one given by that migration, in the order of valid_to
ALTER TABLE reservations_past ADD COLUMN closed_version INTEGER NOT NULL DEFAULT 0; -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone. Before migration 0008: that of the next version of the row, however much later it came, or where none came one given by that migration, in the order of valid_to
ALTER TABLE inventory_requests_past ADD COLUMN closed_version INTEGER NOT NULL DEFAULT 0; -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone. Before migration 0008: that of the next version of the row, however much later it came, or where none came one given by that migration, in the order of valid_to
ALTER TABLE retirements_past ADD COLUMN closed_version INTEGER NOT NULL DEFAULT 0; -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone. Before migration 0008: that of the next version of the row, however much later it came, or where none came one given by that migration, in the order of valid_to
ALTER TABLE members_past ADD COLUMN closed_version INTEGER NOT NULL DEFAULT 0; -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone. Before migration 0008: that of the next version of the row, however much later it came, or where none came one given by that migration, in the order of valid_to
ALTER TABLE addresses_past ADD COLUMN closed_version INTEGER NOT NULL DEFAULT 0; -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone. Before migration 0008: that of the next version of the row, however much later it came, or where none came one given by that migration, in the order of valid_to
ALTER TABLE certificates_past ADD COLUMN closed_version INTEGER NOT NULL DEFAULT 0; -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone. Before migration 0008: that of the next version of the row, however much later it came, or where none came one given by that migration, in the order of valid_to

-- The next version of the same row, where there is one.
UPDATE installations_past AS p SET closed_version = coalesce(
  (SELECT min(n.version) FROM installations_past AS n WHERE n.id = p.id AND n.version > p.version),
  (SELECT n.version FROM installations AS n WHERE n.id = p.id AND n.version > p.version), 0);
UPDATE organizations_past AS p SET closed_version = coalesce(
  (SELECT min(n.version) FROM organizations_past AS n WHERE n.id = p.id AND n.version > p.version),
  (SELECT n.version FROM organizations AS n WHERE n.id = p.id AND n.version > p.version), 0);
UPDATE projects_past AS p SET closed_version = coalesce(
  (SELECT min(n.version) FROM projects_past AS n WHERE n.id = p.id AND n.version > p.version),
  (SELECT n.version FROM projects AS n WHERE n.id = p.id AND n.version > p.version), 0);
UPDATE warehouse_credits_past AS p SET closed_version = coalesce(
  (SELECT min(n.version) FROM warehouse_credits_past AS n WHERE n.organization_id = p.organization_id AND n.credit_id = p.credit_id AND n.inventory_id = p.inventory_id AND n.version > p.version),
  (SELECT n.version FROM warehouse_credits AS n WHERE n.organization_id = p.organization_id AND n.credit_id = p.credit_id AND n.inventory_id = p.inventory_id AND n.version > p.version), 0);
UPDATE inventory_credits_past AS p SET closed_version = coalesce(
  (SELECT min(n.version) FROM inventory_credits_past AS n WHERE n.organization_id = p.organization_id AND n.credit_id = p.credit_id AND n.inventory_id = p.inventory_id AND n.version > p.version),
  (SELECT n.version FROM inventory_credits AS n WHERE n.organization_id = p.organization_id AND n.credit_id = p.credit_id AND n.inventory_id = p.inventory_id AND n.version > p.version), 0);
UPDATE reservations_past AS p SET closed_version = coalesce(
  (SELECT min(n.version) FROM reservations_past AS n WHERE n.organization_id = p.organization_id AND n.id = p.id AND n.version > p.version),
  (SELECT n.version FROM reservations AS n WHERE n.organization_id = p.organization_id AND n.id = p.id AND n.version > p.version), 0);
UPDATE inventory_requests_past AS p SET closed_version = coalesce(
  (SELECT min(n.version) FROM inventory_requests_past AS n WHERE n.organization_id = p.organization_id AND n.id = p.id AND n.version > p.version),
  (SELECT n.version FROM inventory_requests AS n WHERE n.organization_id = p.organization_id AND n.id = p.id AND n.version > p.version), 0);
UPDATE retirements_past AS p SET closed_version = coalesce(
  (SELECT min(n.version) FROM retirements_past AS n WHERE n.organization_id = p.organization_id AND n.id = p.id AND n.version > p.version),
  (SELECT n.version FROM retirements AS n WHERE n.organization_id = p.organization_id AND n.id = p.id AND n.version > p.version), 0);
UPDATE members_past AS p SET closed_version = coalesce(
  (SELECT min(n.version) FROM members_past AS n WHERE n.organization_id = p.organization_id AND n.id = p.id AND n.version > p.version),
  (SELECT n.version FROM members AS n WHERE n.organization_id = p.organization_id AND n.id = p.id AND n.version > p.version), 0);
UPDATE addresses_past AS p SET closed_version = coalesce(
  (SELECT min(n.version) FROM addresses_past AS n WHERE n.organization_id = p.organization_id AND n.id = p.id AND n.version > p.version),
  (SELECT n.version FROM addresses AS n WHERE n.organization_id = p.organization_id AND n.id = p.id AND n.version > p.version), 0);
UPDATE certificates_past AS p SET closed_version = coalesce(
  (SELECT min(n.version) FROM certificates_past AS n WHERE n.organization_id = p.organization_id AND n.retirement_id = p.retirement_id AND n.version > p.version),
  (SELECT n.version FROM certificates AS n WHERE n.organization_id = p.organization_id AND n.retirement_id = p.retirement_id AND n.version > p.version), 0);

-- The others are gone for good: they go on after the newest number, in the order in which they went.
CREATE TEMP TABLE gone_before (number INTEGER PRIMARY KEY, version INTEGER NOT NULL) STRICT;
INSERT INTO gone_before (version)
SELECT version FROM (
  SELECT version, valid_to FROM installations_past WHERE closed_version = 0
  UNION ALL
  SELECT version, valid_to FROM organizations_past WHERE closed_version = 0
  UNION ALL
  SELECT version, valid_to FROM projects_past WHERE closed_version = 0
  UNION ALL
  SELECT version, valid_to FROM warehouse_credits_past WHERE closed_version = 0
  UNION ALL
  SELECT version, valid_to FROM inventory_credits_past WHERE closed_version = 0
  UNION ALL
  SELECT version, valid_to FROM reservations_past WHERE closed_version = 0
  UNION ALL
  SELECT version, valid_to FROM inventory_requests_past WHERE closed_version = 0
  UNION ALL
  SELECT version, valid_to FROM retirements_past WHERE closed_version = 0
  UNION ALL
  SELECT version, valid_to FROM members_past WHERE closed_version = 0
  UNION ALL
  SELECT version, valid_to FROM addresses_past WHERE closed_version = 0
  UNION ALL
  SELECT version, valid_to FROM certificates_past WHERE closed_version = 0
) ORDER BY valid_to, version;
UPDATE installations_past SET closed_version = g.number + (SELECT last FROM version_counter)
FROM gone_before AS g WHERE g.version = installations_past.version;
UPDATE organizations_past SET closed_version = g.number + (SELECT last FROM version_counter)
FROM gone_before AS g WHERE g.version = organizations_past.version;
UPDATE projects_past SET closed_version = g.number + (SELECT last FROM version_counter)
FROM gone_before AS g WHERE g.version = projects_past.version;
UPDATE warehouse_credits_past SET closed_version = g.number + (SELECT last FROM version_counter)
FROM gone_before AS g WHERE g.version = warehouse_credits_past.version;
UPDATE inventory_credits_past SET closed_version = g.number + (SELECT last FROM version_counter)
FROM gone_before AS g WHERE g.version = inventory_credits_past.version;
UPDATE reservations_past SET closed_version = g.number + (SELECT last FROM version_counter)
FROM gone_before AS g WHERE g.version = reservations_past.version;
UPDATE inventory_requests_past SET closed_version = g.number + (SELECT last FROM version_counter)
FROM gone_before AS g WHERE g.version = inventory_requests_past.version;
UPDATE retirements_past SET closed_version = g.number + (SELECT last FROM version_counter)
FROM gone_before AS g WHERE g.version = retirements_past.version;
UPDATE members_past SET closed_version = g.number + (SELECT last FROM version_counter)
FROM gone_before AS g WHERE g.version = members_past.version;
UPDATE addresses_past SET closed_version = g.number + (SELECT last FROM version_counter)
FROM gone_before AS g WHERE g.version = addresses_past.version;
UPDATE certificates_past SET closed_version = g.number + (SELECT last FROM version_counter)
FROM gone_before AS g WHERE g.version = certificates_past.version;
UPDATE version_counter SET last = last + (SELECT count(*) FROM gone_before);
DROP TABLE gone_before;

-- Each number once, and to be read in their order.
CREATE UNIQUE INDEX installations_past_by_closed_version ON installations_past (closed_version);
CREATE UNIQUE INDEX organizations_past_by_closed_version ON organizations_past (closed_version);
CREATE UNIQUE INDEX projects_past_by_closed_version ON projects_past (closed_version);
CREATE UNIQUE INDEX warehouse_credits_past_by_closed_version ON warehouse_credits_past (closed_version);
CREATE UNIQUE INDEX inventory_credits_past_by_closed_version ON inventory_credits_past (closed_version);
CREATE UNIQUE INDEX reservations_past_by_closed_version ON reservations_past (closed_version);
CREATE UNIQUE INDEX inventory_requests_past_by_closed_version ON inventory_requests_past (closed_version);
CREATE UNIQUE INDEX retirements_past_by_closed_version ON retirements_past (closed_version);
CREATE UNIQUE INDEX members_past_by_closed_version ON members_past (closed_version);
CREATE UNIQUE INDEX addresses_past_by_closed_version ON addresses_past (closed_version);
CREATE UNIQUE INDEX certificates_past_by_closed_version ON certificates_past (closed_version);

-- A worker of the version before, which goes on while its mirror is migrated, knows no such number: its closings are refused.
CREATE TRIGGER installations_past_has_closed_version BEFORE INSERT ON installations_past WHEN NEW.closed_version = 0
BEGIN SELECT RAISE(ABORT, 'this mirror has a newer schema than the program that writes it: start the program again'); END;
CREATE TRIGGER organizations_past_has_closed_version BEFORE INSERT ON organizations_past WHEN NEW.closed_version = 0
BEGIN SELECT RAISE(ABORT, 'this mirror has a newer schema than the program that writes it: start the program again'); END;
CREATE TRIGGER projects_past_has_closed_version BEFORE INSERT ON projects_past WHEN NEW.closed_version = 0
BEGIN SELECT RAISE(ABORT, 'this mirror has a newer schema than the program that writes it: start the program again'); END;
CREATE TRIGGER warehouse_credits_past_has_closed_version BEFORE INSERT ON warehouse_credits_past WHEN NEW.closed_version = 0
BEGIN SELECT RAISE(ABORT, 'this mirror has a newer schema than the program that writes it: start the program again'); END;
CREATE TRIGGER inventory_credits_past_has_closed_version BEFORE INSERT ON inventory_credits_past WHEN NEW.closed_version = 0
BEGIN SELECT RAISE(ABORT, 'this mirror has a newer schema than the program that writes it: start the program again'); END;
CREATE TRIGGER reservations_past_has_closed_version BEFORE INSERT ON reservations_past WHEN NEW.closed_version = 0
BEGIN SELECT RAISE(ABORT, 'this mirror has a newer schema than the program that writes it: start the program again'); END;
CREATE TRIGGER inventory_requests_past_has_closed_version BEFORE INSERT ON inventory_requests_past WHEN NEW.closed_version = 0
BEGIN SELECT RAISE(ABORT, 'this mirror has a newer schema than the program that writes it: start the program again'); END;
CREATE TRIGGER retirements_past_has_closed_version BEFORE INSERT ON retirements_past WHEN NEW.closed_version = 0
BEGIN SELECT RAISE(ABORT, 'this mirror has a newer schema than the program that writes it: start the program again'); END;
CREATE TRIGGER members_past_has_closed_version BEFORE INSERT ON members_past WHEN NEW.closed_version = 0
BEGIN SELECT RAISE(ABORT, 'this mirror has a newer schema than the program that writes it: start the program again'); END;
CREATE TRIGGER addresses_past_has_closed_version BEFORE INSERT ON addresses_past WHEN NEW.closed_version = 0
BEGIN SELECT RAISE(ABORT, 'this mirror has a newer schema than the program that writes it: start the program again'); END;
CREATE TRIGGER certificates_past_has_closed_version BEFORE INSERT ON certificates_past WHEN NEW.closed_version = 0
BEGIN SELECT RAISE(ABORT, 'this mirror has a newer schema than the program that writes it: start the program again'); END;

ALTER TABLE sync_runs ADD COLUMN job_id INTEGER; -- the job of the inbox that did it; null where none did. Before migration 0008: null
ALTER TABLE sync_runs ADD COLUMN delivery_id INTEGER; -- the newest delivery that this job answers; null where none had asked for it. Before migration 0008: null
ALTER TABLE sync_runs ADD COLUMN answered_at TEXT; -- when the registry's latest answer had come; null while it runs, and where none came. Before migration 0008: null

DROP VIEW installations_history;

-- Every version of installations, past and present. As of an instant: valid_from <= it and (valid_to IS NULL or valid_to > it).
CREATE VIEW installations_history (
  version, -- number of this version; rises over all tables and is never used twice
  id, -- the registry's id
  organization_id, -- the organization that it stands on
  app_id, -- the app that it belongs to
  state, -- active, suspended or uninstalled
  permissions, -- granted permissions and their levels, a JSON object
  created_at, -- when the registry says it was created
  updated_at, -- when the registry says it last changed
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier. Before migration 0006: start of that read
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document, -- the registry's whole object as sent
  closed_version -- number of the counter that its closing took; null where it is still true
) AS
SELECT version, id, organization_id, app_id, state, permissions, created_at, updated_at, valid_from, valid_to, sync_run_id, closed_by, document, closed_version
FROM installations_past
UNION ALL
SELECT version, id, organization_id, app_id, state, permissions, created_at, updated_at, valid_from, NULL, sync_run_id, NULL, document, NULL
FROM installations;

DROP VIEW organizations_history;

-- Every version of organizations, past and present. As of an instant: valid_from <= it and (valid_to IS NULL or valid_to > it).
CREATE VIEW organizations_history (
  version, -- number of this version; rises over all tables and is never used twice
  id, -- the registry's id
  full_name, -- its name
  type, -- what kind of organization it is
  country_code, -- two capital letters
  website, -- its web address as sent; never called
  is_public, -- 1 where the registry shows it to everybody, else 0
  created_at, -- when the registry says it was created
  updated_at, -- when the registry says it last changed
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier. Before migration 0006: start of that read
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document, -- the registry's whole object as sent
  closed_version -- number of the counter that its closing took; null where it is still true
) AS
SELECT version, id, full_name, type, country_code, website, is_public, created_at, updated_at, valid_from, valid_to, sync_run_id, closed_by, document, closed_version
FROM organizations_past
UNION ALL
SELECT version, id, full_name, type, country_code, website, is_public, created_at, updated_at, valid_from, NULL, sync_run_id, NULL, document, NULL
FROM organizations;

DROP VIEW projects_history;

-- Every version of projects, past and present. As of an instant: valid_from <= it and (valid_to IS NULL or valid_to > it).
CREATE VIEW projects_history (
  version, -- number of this version; rises over all tables and is never used twice
  id, -- the registry's id
  num, -- its number in the registry
  full_name, -- its name
  short_description, -- one paragraph about it
  status, -- how far it has come
  registry, -- the registry that it belongs to
  country_code, -- two capital letters
  sector, -- its sector
  methodology, -- the methodology that it follows
  type, -- removal, avoidance or another word of the registry
  start_date, -- when it started, as sent
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier. Before migration 0006: start of that read
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document, -- the registry's whole object as sent
  closed_version -- number of the counter that its closing took; null where it is still true
) AS
SELECT version, id, num, full_name, short_description, status, registry, country_code, sector, methodology, type, start_date, valid_from, valid_to, sync_run_id, closed_by, document, closed_version
FROM projects_past
UNION ALL
SELECT version, id, num, full_name, short_description, status, registry, country_code, sector, methodology, type, start_date, valid_from, NULL, sync_run_id, NULL, document, NULL
FROM projects;

DROP VIEW warehouse_credits_history;

-- Every version of warehouse_credits, past and present. As of an instant: valid_from <= it and (valid_to IS NULL or valid_to > it).
CREATE VIEW warehouse_credits_history (
  version, -- number of this version; rises over all tables and is never used twice
  organization_id, -- the organization whose list it stood in
  credit_id, -- the registry's id of the credit
  inventory_id, -- which inventory holds it; '' where none was sent
  project_id, -- the project that issued the credit
  project_name, -- the project's name as this row was sent with it
  serialization, -- what names the credit in public
  vintage, -- year of the reduction; where it was not sent, the year that ends the serialization
  type, -- exPost (issued) or exAnte (expected)
  token_id, -- number of the token on the chain
  token_address, -- address of the token on the chain
  unit, -- unit of the amount as sent; always meant as tonnes
  amount, -- tonnes, to look at; sums of it are not exact
  amount_micro, -- millionths of a tonne, for exact sums; null where the amount is finer or larger than that holds
  amount_exact, -- the registry's own digits; null where it sent no usable number
  fault, -- what is wrong with the amount; null where nothing is
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier. Before migration 0006: start of that read
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document, -- the registry's whole object as sent
  closed_version -- number of the counter that its closing took; null where it is still true
) AS
SELECT version, organization_id, credit_id, inventory_id, project_id, project_name, serialization, vintage, type, token_id, token_address, unit, amount, amount_micro, amount_exact, fault, valid_from, valid_to, sync_run_id, closed_by, document, closed_version
FROM warehouse_credits_past
UNION ALL
SELECT version, organization_id, credit_id, inventory_id, project_id, project_name, serialization, vintage, type, token_id, token_address, unit, amount, amount_micro, amount_exact, fault, valid_from, NULL, sync_run_id, NULL, document, NULL
FROM warehouse_credits;

DROP VIEW inventory_credits_history;

-- Every version of inventory_credits, past and present. As of an instant: valid_from <= it and (valid_to IS NULL or valid_to > it).
CREATE VIEW inventory_credits_history (
  version, -- number of this version; rises over all tables and is never used twice
  organization_id, -- the organization whose list it stood in
  credit_id, -- the registry's id of the credit
  inventory_id, -- which inventory holds it; '' where none was sent
  project_id, -- the project that issued the credit
  project_name, -- the project's name as this row was sent with it
  serialization, -- what names the credit in public
  vintage, -- year of the reduction; where it was not sent, the year that ends the serialization
  type, -- exPost (issued) or exAnte (expected)
  token_id, -- number of the token on the chain
  token_address, -- address of the token on the chain
  unit, -- unit of the amount as sent; always meant as tonnes
  amount, -- tonnes, to look at; sums of it are not exact
  amount_micro, -- millionths of a tonne, for exact sums; null where the amount is finer or larger than that holds
  amount_exact, -- the registry's own digits; null where it sent no usable number
  fault, -- what is wrong with the amount; null where nothing is
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier. Before migration 0006: start of that read
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document, -- the registry's whole object as sent
  closed_version -- number of the counter that its closing took; null where it is still true
) AS
SELECT version, organization_id, credit_id, inventory_id, project_id, project_name, serialization, vintage, type, token_id, token_address, unit, amount, amount_micro, amount_exact, fault, valid_from, valid_to, sync_run_id, closed_by, document, closed_version
FROM inventory_credits_past
UNION ALL
SELECT version, organization_id, credit_id, inventory_id, project_id, project_name, serialization, vintage, type, token_id, token_address, unit, amount, amount_micro, amount_exact, fault, valid_from, NULL, sync_run_id, NULL, document, NULL
FROM inventory_credits;

DROP VIEW reservations_history;

-- Every version of reservations, past and present. As of an instant: valid_from <= it and (valid_to IS NULL or valid_to > it).
CREATE VIEW reservations_history (
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
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document, -- the registry's whole object as sent
  closed_version -- number of the counter that its closing took; null where it is still true
) AS
SELECT version, organization_id, id, credit_id, serialization, type, amount, amount_micro, amount_exact, fault, project_id, project_name, reserver_id, reserver_name, state, is_complete, reserved_to_at, created_at, updated_at, valid_from, valid_to, sync_run_id, closed_by, document, closed_version
FROM reservations_past
UNION ALL
SELECT version, organization_id, id, credit_id, serialization, type, amount, amount_micro, amount_exact, fault, project_id, project_name, reserver_id, reserver_name, state, is_complete, reserved_to_at, created_at, updated_at, valid_from, NULL, sync_run_id, NULL, document, NULL
FROM reservations;

DROP VIEW inventory_requests_history;

-- Every version of inventory_requests, past and present. As of an instant: valid_from <= it and (valid_to IS NULL or valid_to > it).
CREATE VIEW inventory_requests_history (
  version, -- number of this version; rises over all tables and is never used twice
  organization_id, -- the organization whose list it stood in
  id, -- the registry's id
  credit_id, -- the credit concerned
  action, -- transfer, retire or transfer_retire
  state, -- the registry's own word
  type, -- exPost (issued) or exAnte (expected)
  serialization, -- what names the credit in public
  vintage, -- year of the reduction; where it was not sent, the year that ends the serialization
  amount, -- tonnes, to look at; sums of it are not exact
  amount_micro, -- millionths of a tonne, for exact sums; null where the amount is finer or larger than that holds
  amount_exact, -- the registry's own digits; null where it sent no usable number
  fault, -- what is wrong with the amount; null where nothing is
  from_organization_id, -- who gives
  to_organization_id, -- who receives
  to_address, -- the address that receives, where it is no organization
  project_id, -- the project that issued the credit
  project_name, -- the project's name as this row was sent with it
  tx_id, -- transaction on the chain; set once it was carried out
  retirement_reason, -- reason given for the retirement
  beneficiary, -- for whom it is to be retired
  retirement_comment, -- comment given for the retirement
  created_at, -- when the registry says it was created
  updated_at, -- when the registry says it last changed
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier. Before migration 0006: start of that read
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document, -- the registry's whole object as sent
  closed_version -- number of the counter that its closing took; null where it is still true
) AS
SELECT version, organization_id, id, credit_id, action, state, type, serialization, vintage, amount, amount_micro, amount_exact, fault, from_organization_id, to_organization_id, to_address, project_id, project_name, tx_id, retirement_reason, beneficiary, retirement_comment, created_at, updated_at, valid_from, valid_to, sync_run_id, closed_by, document, closed_version
FROM inventory_requests_past
UNION ALL
SELECT version, organization_id, id, credit_id, action, state, type, serialization, vintage, amount, amount_micro, amount_exact, fault, from_organization_id, to_organization_id, to_address, project_id, project_name, tx_id, retirement_reason, beneficiary, retirement_comment, created_at, updated_at, valid_from, NULL, sync_run_id, NULL, document, NULL
FROM inventory_requests;

DROP VIEW retirements_history;

-- Every version of retirements, past and present. As of an instant: valid_from <= it and (valid_to IS NULL or valid_to > it).
CREATE VIEW retirements_history (
  version, -- number of this version; rises over all tables and is never used twice
  organization_id, -- the organization whose list it stood in
  id, -- the registry's id
  project_id, -- the project that issued the credit
  project_name, -- the project's name as this row was sent with it
  serialization, -- what names the credit in public
  vintage, -- year of the reduction; where it was not sent, the year that ends the serialization
  amount, -- tonnes, to look at; sums of it are not exact
  amount_micro, -- millionths of a tonne, for exact sums; null where the amount is finer or larger than that holds
  amount_exact, -- the registry's own digits; null where it sent no usable number
  fault, -- what is wrong with the amount; null where nothing is
  reason, -- reason given
  beneficiary, -- for whom it was retired; null where nobody has claimed it
  comment, -- comment given
  is_claimed, -- 1 where somebody has claimed it, else 0
  created_at, -- when the registry says it was created
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier. Before migration 0006: start of that read
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document, -- the registry's whole object as sent
  closed_version -- number of the counter that its closing took; null where it is still true
) AS
SELECT version, organization_id, id, project_id, project_name, serialization, vintage, amount, amount_micro, amount_exact, fault, reason, beneficiary, comment, is_claimed, created_at, valid_from, valid_to, sync_run_id, closed_by, document, closed_version
FROM retirements_past
UNION ALL
SELECT version, organization_id, id, project_id, project_name, serialization, vintage, amount, amount_micro, amount_exact, fault, reason, beneficiary, comment, is_claimed, created_at, valid_from, NULL, sync_run_id, NULL, document, NULL
FROM retirements;

DROP VIEW members_history;

-- Every version of members, past and present. As of an instant: valid_from <= it and (valid_to IS NULL or valid_to > it).
CREATE VIEW members_history (
  version, -- number of this version; rises over all tables and is never used twice
  organization_id, -- the organization whose list it stood in
  id, -- the registry's id, or a hash of the object where it sends none
  full_name, -- name
  email, -- e-mail address
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier. Before migration 0006: start of that read
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document, -- the registry's whole object as sent
  closed_version -- number of the counter that its closing took; null where it is still true
) AS
SELECT version, organization_id, id, full_name, email, valid_from, valid_to, sync_run_id, closed_by, document, closed_version
FROM members_past
UNION ALL
SELECT version, organization_id, id, full_name, email, valid_from, NULL, sync_run_id, NULL, document, NULL
FROM members;

DROP VIEW addresses_history;

-- Every version of addresses, past and present. As of an instant: valid_from <= it and (valid_to IS NULL or valid_to > it).
CREATE VIEW addresses_history (
  version, -- number of this version; rises over all tables and is never used twice
  organization_id, -- the organization whose list it stood in
  id, -- the registry's id, or a hash of the object where it sends none
  address, -- the address
  name, -- what the organization calls it
  is_default, -- 1 for the one that is used unless another is named, else 0
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier. Before migration 0006: start of that read
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document, -- the registry's whole object as sent
  closed_version -- number of the counter that its closing took; null where it is still true
) AS
SELECT version, organization_id, id, address, name, is_default, valid_from, valid_to, sync_run_id, closed_by, document, closed_version
FROM addresses_past
UNION ALL
SELECT version, organization_id, id, address, name, is_default, valid_from, NULL, sync_run_id, NULL, document, NULL
FROM addresses;

DROP VIEW certificates_history;

-- Every certificate that was ever stored, replaced ones included, and those still to come.
CREATE VIEW certificates_history (
  version, -- number of this version; rises over all tables and is never used twice
  organization_id, -- the organization whose list it stood in
  retirement_id, -- the retirement that it proves
  state, -- pending: not asked for yet; unavailable: the registry has none yet; stored: the file is here
  file, -- name of the file in the folder of certificates; never written twice
  sha256, -- SHA-256 of the file in hex
  size, -- length of the file in bytes
  fetched_at, -- when this file was fetched
  checked_at, -- when the registry was last asked for it
  due_at, -- when the registry is to be asked next
  attempts, -- questions in a row that brought no file
  error, -- why the latest answer was not stored; null where nothing is wrong
  retirement_version, -- the version of the retirement that it was asked for
  valid_from, -- when this file had arrived to its end; for a row without a file, when it was entered. Before migration 0006: start of the read that found it
  valid_to, -- null where it is still the newest; else it was so before, not at, this instant
  sync_run_id, -- the sync run that fetched the file; null before
  closed_by, -- the sync run that closed it; null where it is still the newest
  closed_version -- number of the counter that its closing took; null where it is still the newest
) AS
SELECT version, organization_id, retirement_id, state, file, sha256, size, fetched_at, checked_at, due_at, attempts, error, retirement_version, valid_from, valid_to, sync_run_id, closed_by, closed_version
FROM certificates_past
UNION ALL
SELECT version, organization_id, retirement_id, state, file, sha256, size, fetched_at, checked_at, due_at, attempts, error, retirement_version, valid_from, NULL, sync_run_id, NULL, NULL
FROM certificates;
