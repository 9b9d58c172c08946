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
  valid_from, -- start of the read that found this version; the registry may have changed earlier
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document -- the registry's whole object as sent
) AS
SELECT version, id, organization_id, app_id, state, permissions, created_at, updated_at, valid_from, valid_to, sync_run_id, closed_by, document
FROM installations_past
UNION ALL
SELECT version, id, organization_id, app_id, state, permissions, created_at, updated_at, valid_from, NULL, sync_run_id, NULL, document
FROM installations;

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
  valid_from, -- start of the read that found this version; the registry may have changed earlier
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document -- the registry's whole object as sent
) AS
SELECT version, id, full_name, type, country_code, website, is_public, created_at, updated_at, valid_from, valid_to, sync_run_id, closed_by, document
FROM organizations_past
UNION ALL
SELECT version, id, full_name, type, country_code, website, is_public, created_at, updated_at, valid_from, NULL, sync_run_id, NULL, document
FROM organizations;

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
  valid_from, -- start of the read that found this version; the registry may have changed earlier
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document -- the registry's whole object as sent
) AS
SELECT version, id, num, full_name, short_description, status, registry, country_code, sector, methodology, type, start_date, valid_from, valid_to, sync_run_id, closed_by, document
FROM projects_past
UNION ALL
SELECT version, id, num, full_name, short_description, status, registry, country_code, sector, methodology, type, start_date, valid_from, NULL, sync_run_id, NULL, document
FROM projects;

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
  valid_from, -- start of the read that found this version; the registry may have changed earlier
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document -- the registry's whole object as sent
) AS
SELECT version, organization_id, credit_id, inventory_id, project_id, project_name, serialization, vintage, type, token_id, token_address, unit, amount, amount_micro, amount_exact, fault, valid_from, valid_to, sync_run_id, closed_by, document
FROM warehouse_credits_past
UNION ALL
SELECT version, organization_id, credit_id, inventory_id, project_id, project_name, serialization, vintage, type, token_id, token_address, unit, amount, amount_micro, amount_exact, fault, valid_from, NULL, sync_run_id, NULL, document
FROM warehouse_credits;

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
  valid_from, -- start of the read that found this version; the registry may have changed earlier
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document -- the registry's whole object as sent
) AS
SELECT version, organization_id, credit_id, inventory_id, project_id, project_name, serialization, vintage, type, token_id, token_address, unit, amount, amount_micro, amount_exact, fault, valid_from, valid_to, sync_run_id, closed_by, document
FROM inventory_credits_past
UNION ALL
SELECT version, organization_id, credit_id, inventory_id, project_id, project_name, serialization, vintage, type, token_id, token_address, unit, amount, amount_micro, amount_exact, fault, valid_from, NULL, sync_run_id, NULL, document
FROM inventory_credits;

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
  valid_from, -- start of the read that found this version; the registry may have changed earlier
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document -- the registry's whole object as sent
) AS
SELECT version, organization_id, id, credit_id, serialization, type, amount, amount_micro, amount_exact, fault, project_id, project_name, reserver_id, reserver_name, state, is_complete, reserved_to_at, created_at, updated_at, valid_from, valid_to, sync_run_id, closed_by, document
FROM reservations_past
UNION ALL
SELECT version, organization_id, id, credit_id, serialization, type, amount, amount_micro, amount_exact, fault, project_id, project_name, reserver_id, reserver_name, state, is_complete, reserved_to_at, created_at, updated_at, valid_from, NULL, sync_run_id, NULL, document
FROM reservations;

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
  valid_from, -- start of the read that found this version; the registry may have changed earlier
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document -- the registry's whole object as sent
) AS
SELECT version, organization_id, id, credit_id, action, state, type, serialization, vintage, amount, amount_micro, amount_exact, fault, from_organization_id, to_organization_id, to_address, project_id, project_name, tx_id, retirement_reason, beneficiary, retirement_comment, created_at, updated_at, valid_from, valid_to, sync_run_id, closed_by, document
FROM inventory_requests_past
UNION ALL
SELECT version, organization_id, id, credit_id, action, state, type, serialization, vintage, amount, amount_micro, amount_exact, fault, from_organization_id, to_organization_id, to_address, project_id, project_name, tx_id, retirement_reason, beneficiary, retirement_comment, created_at, updated_at, valid_from, NULL, sync_run_id, NULL, document
FROM inventory_requests;

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
  valid_from, -- start of the read that found this version; the registry may have changed earlier
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document -- the registry's whole object as sent
) AS
SELECT version, organization_id, id, project_id, project_name, serialization, vintage, amount, amount_micro, amount_exact, fault, reason, beneficiary, comment, is_claimed, created_at, valid_from, valid_to, sync_run_id, closed_by, document
FROM retirements_past
UNION ALL
SELECT version, organization_id, id, project_id, project_name, serialization, vintage, amount, amount_micro, amount_exact, fault, reason, beneficiary, comment, is_claimed, created_at, valid_from, NULL, sync_run_id, NULL, document
FROM retirements;

-- Every version of members, past and present. As of an instant: valid_from <= it and (valid_to IS NULL or valid_to > it).
CREATE VIEW members_history (
  version, -- number of this version; rises over all tables and is never used twice
  organization_id, -- the organization whose list it stood in
  id, -- the registry's id, or a hash of the object where it sends none
  full_name, -- name
  email, -- e-mail address
  valid_from, -- start of the read that found this version; the registry may have changed earlier
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document -- the registry's whole object as sent
) AS
SELECT version, organization_id, id, full_name, email, valid_from, valid_to, sync_run_id, closed_by, document
FROM members_past
UNION ALL
SELECT version, organization_id, id, full_name, email, valid_from, NULL, sync_run_id, NULL, document
FROM members;

-- Every version of addresses, past and present. As of an instant: valid_from <= it and (valid_to IS NULL or valid_to > it).
CREATE VIEW addresses_history (
  version, -- number of this version; rises over all tables and is never used twice
  organization_id, -- the organization whose list it stood in
  id, -- the registry's id, or a hash of the object where it sends none
  address, -- the address
  name, -- what the organization calls it
  is_default, -- 1 for the one that is used unless another is named, else 0
  valid_from, -- start of the read that found this version; the registry may have changed earlier
  valid_to, -- null where it is still true; else it was true before, not at, this instant
  sync_run_id, -- the sync run that wrote it; old runs are removed in time
  closed_by, -- the sync run that closed it; null where it is still true
  document -- the registry's whole object as sent
) AS
SELECT version, organization_id, id, address, name, is_default, valid_from, valid_to, sync_run_id, closed_by, document
FROM addresses_past
UNION ALL
SELECT version, organization_id, id, address, name, is_default, valid_from, NULL, sync_run_id, NULL, document
FROM addresses;

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
  valid_from, -- start of the read that found this file; for a row without a file, when it was entered
  valid_to, -- null where it is still the newest; else it was so before, not at, this instant
  sync_run_id, -- the sync run that fetched the file; null before
  closed_by -- the sync run that closed it; null where it is still the newest
) AS
SELECT version, organization_id, retirement_id, state, file, sha256, size, fetched_at, checked_at, due_at, attempts, error, retirement_version, valid_from, valid_to, sync_run_id, closed_by
FROM certificates_past
UNION ALL
SELECT version, organization_id, retirement_id, state, file, sha256, size, fetched_at, checked_at, due_at, attempts, error, retirement_version, valid_from, NULL, sync_run_id, NULL
FROM certificates;
