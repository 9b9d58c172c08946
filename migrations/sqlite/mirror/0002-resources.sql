-- Installations of this app. The state is worked out from what the registry allows; no answer shows it.
CREATE TABLE installations (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  id TEXT NOT NULL, -- the registry's id
  organization_id TEXT, -- the organization that it stands on
  app_id TEXT, -- the app that it belongs to
  state TEXT NOT NULL CHECK (state IN ('active', 'suspended', 'uninstalled')), -- active, suspended or uninstalled
  permissions TEXT NOT NULL CHECK (json_valid(permissions)), -- granted permissions and their levels, a JSON object
  created_at TEXT, -- when the registry says it was created
  updated_at TEXT, -- when the registry says it last changed
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  document TEXT NOT NULL, -- the registry's whole object as sent
  UNIQUE (id)
) STRICT;
CREATE INDEX installations_by_organization ON installations (organization_id);

-- Versions of installations that are no longer true: changed or gone.
CREATE TABLE installations_past (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  id TEXT NOT NULL, -- the registry's id
  organization_id TEXT, -- the organization that it stands on
  app_id TEXT, -- the app that it belongs to
  state TEXT NOT NULL CHECK (state IN ('active', 'suspended', 'uninstalled')), -- active, suspended or uninstalled
  permissions TEXT NOT NULL CHECK (json_valid(permissions)), -- granted permissions and their levels, a JSON object
  created_at TEXT, -- when the registry says it was created
  updated_at TEXT, -- when the registry says it last changed
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- start of the read that no longer found it so; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL -- the registry's whole object as sent
) STRICT;
CREATE INDEX installations_past_by_key ON installations_past (id);

-- Organizations that the app is or was installed on.
CREATE TABLE organizations (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  id TEXT NOT NULL, -- the registry's id
  full_name TEXT, -- its name
  type TEXT, -- what kind of organization it is
  country_code TEXT, -- two capital letters
  website TEXT, -- its web address as sent; never called
  is_public INTEGER, -- 1 where the registry shows it to everybody, else 0
  created_at TEXT, -- when the registry says it was created
  updated_at TEXT, -- when the registry says it last changed
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  document TEXT NOT NULL, -- the registry's whole object as sent
  UNIQUE (id)
) STRICT;

-- Versions of organizations that are no longer true: changed or gone.
CREATE TABLE organizations_past (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  id TEXT NOT NULL, -- the registry's id
  full_name TEXT, -- its name
  type TEXT, -- what kind of organization it is
  country_code TEXT, -- two capital letters
  website TEXT, -- its web address as sent; never called
  is_public INTEGER, -- 1 where the registry shows it to everybody, else 0
  created_at TEXT, -- when the registry says it was created
  updated_at TEXT, -- when the registry says it last changed
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- start of the read that no longer found it so; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL -- the registry's whole object as sent
) STRICT;
CREATE INDEX organizations_past_by_key ON organizations_past (id);

-- Projects that credits, holds, requests and retirements name, as far as they can be read.
CREATE TABLE projects (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  id TEXT NOT NULL, -- the registry's id
  num TEXT, -- its number in the registry
  full_name TEXT, -- its name
  short_description TEXT, -- one paragraph about it
  status TEXT, -- how far it has come
  registry TEXT, -- the registry that it belongs to
  country_code TEXT, -- two capital letters
  sector TEXT, -- its sector
  methodology TEXT, -- the methodology that it follows
  type TEXT, -- removal, avoidance or another word of the registry
  start_date TEXT, -- when it started, as sent
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  document TEXT NOT NULL, -- the registry's whole object as sent
  UNIQUE (id)
) STRICT;

-- Versions of projects that are no longer true: changed or gone.
CREATE TABLE projects_past (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  id TEXT NOT NULL, -- the registry's id
  num TEXT, -- its number in the registry
  full_name TEXT, -- its name
  short_description TEXT, -- one paragraph about it
  status TEXT, -- how far it has come
  registry TEXT, -- the registry that it belongs to
  country_code TEXT, -- two capital letters
  sector TEXT, -- its sector
  methodology TEXT, -- the methodology that it follows
  type TEXT, -- removal, avoidance or another word of the registry
  start_date TEXT, -- when it started, as sent
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- start of the read that no longer found it so; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL -- the registry's whole object as sent
) STRICT;
CREATE INDEX projects_past_by_key ON projects_past (id);

-- Credits in the warehouse: what apps may reserve. The registry has already taken held credits out of it.
CREATE TABLE warehouse_credits (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  credit_id TEXT NOT NULL, -- the registry's id of the credit
  inventory_id TEXT NOT NULL, -- which inventory holds it; '' where none was sent
  project_id TEXT, -- the project that issued the credit
  project_name TEXT, -- the project's name as this row was sent with it
  serialization TEXT, -- what names the credit in public
  vintage TEXT, -- year of the reduction; where it was not sent, the year that ends the serialization
  type TEXT, -- exPost (issued) or exAnte (expected)
  token_id TEXT, -- number of the token on the chain
  token_address TEXT, -- address of the token on the chain
  unit TEXT, -- unit of the amount as sent; always meant as tonnes
  amount REAL, -- tonnes, to look at; sums of it are not exact
  amount_micro INTEGER, -- millionths of a tonne, for exact sums; null where the amount is finer or larger than that holds
  amount_exact TEXT, -- the registry's own digits; null where it sent no usable number
  fault TEXT, -- what is wrong with the amount; null where nothing is
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  document TEXT NOT NULL, -- the registry's whole object as sent
  UNIQUE (organization_id, credit_id, inventory_id)
) STRICT;

-- Versions of warehouse_credits that are no longer true: changed or gone.
CREATE TABLE warehouse_credits_past (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  credit_id TEXT NOT NULL, -- the registry's id of the credit
  inventory_id TEXT NOT NULL, -- which inventory holds it; '' where none was sent
  project_id TEXT, -- the project that issued the credit
  project_name TEXT, -- the project's name as this row was sent with it
  serialization TEXT, -- what names the credit in public
  vintage TEXT, -- year of the reduction; where it was not sent, the year that ends the serialization
  type TEXT, -- exPost (issued) or exAnte (expected)
  token_id TEXT, -- number of the token on the chain
  token_address TEXT, -- address of the token on the chain
  unit TEXT, -- unit of the amount as sent; always meant as tonnes
  amount REAL, -- tonnes, to look at; sums of it are not exact
  amount_micro INTEGER, -- millionths of a tonne, for exact sums; null where the amount is finer or larger than that holds
  amount_exact TEXT, -- the registry's own digits; null where it sent no usable number
  fault TEXT, -- what is wrong with the amount; null where nothing is
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- start of the read that no longer found it so; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL -- the registry's whole object as sent
) STRICT;
CREATE INDEX warehouse_credits_past_by_key ON warehouse_credits_past (organization_id, credit_id, inventory_id);

-- Credits in an organization's main inventory.
CREATE TABLE inventory_credits (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  credit_id TEXT NOT NULL, -- the registry's id of the credit
  inventory_id TEXT NOT NULL, -- which inventory holds it; '' where none was sent
  project_id TEXT, -- the project that issued the credit
  project_name TEXT, -- the project's name as this row was sent with it
  serialization TEXT, -- what names the credit in public
  vintage TEXT, -- year of the reduction; where it was not sent, the year that ends the serialization
  type TEXT, -- exPost (issued) or exAnte (expected)
  token_id TEXT, -- number of the token on the chain
  token_address TEXT, -- address of the token on the chain
  unit TEXT, -- unit of the amount as sent; always meant as tonnes
  amount REAL, -- tonnes, to look at; sums of it are not exact
  amount_micro INTEGER, -- millionths of a tonne, for exact sums; null where the amount is finer or larger than that holds
  amount_exact TEXT, -- the registry's own digits; null where it sent no usable number
  fault TEXT, -- what is wrong with the amount; null where nothing is
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  document TEXT NOT NULL, -- the registry's whole object as sent
  UNIQUE (organization_id, credit_id, inventory_id)
) STRICT;

-- Versions of inventory_credits that are no longer true: changed or gone.
CREATE TABLE inventory_credits_past (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  credit_id TEXT NOT NULL, -- the registry's id of the credit
  inventory_id TEXT NOT NULL, -- which inventory holds it; '' where none was sent
  project_id TEXT, -- the project that issued the credit
  project_name TEXT, -- the project's name as this row was sent with it
  serialization TEXT, -- what names the credit in public
  vintage TEXT, -- year of the reduction; where it was not sent, the year that ends the serialization
  type TEXT, -- exPost (issued) or exAnte (expected)
  token_id TEXT, -- number of the token on the chain
  token_address TEXT, -- address of the token on the chain
  unit TEXT, -- unit of the amount as sent; always meant as tonnes
  amount REAL, -- tonnes, to look at; sums of it are not exact
  amount_micro INTEGER, -- millionths of a tonne, for exact sums; null where the amount is finer or larger than that holds
  amount_exact TEXT, -- the registry's own digits; null where it sent no usable number
  fault TEXT, -- what is wrong with the amount; null where nothing is
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- start of the read that no longer found it so; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL -- the registry's whole object as sent
) STRICT;
CREATE INDEX inventory_credits_past_by_key ON inventory_credits_past (organization_id, credit_id, inventory_id);

-- Credits held for an app, for ten minutes at most. What each hold is right now: reservations_now.
CREATE TABLE reservations (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  id TEXT NOT NULL, -- the registry's id
  credit_id TEXT NOT NULL, -- the credit that is held
  serialization TEXT, -- what names the credit in public
  type TEXT, -- exPost (issued) or exAnte (expected)
  amount REAL, -- tonnes, to look at; sums of it are not exact
  amount_micro INTEGER, -- millionths of a tonne, for exact sums; null where the amount is finer or larger than that holds
  amount_exact TEXT, -- the registry's own digits; null where it sent no usable number
  fault TEXT, -- what is wrong with the amount; null where nothing is
  project_id TEXT, -- the project that issued the credit
  project_name TEXT, -- the project's name as this row was sent with it
  reserver_id TEXT, -- the app that holds it
  reserver_name TEXT, -- name of that app
  state TEXT, -- the registry's own word when it was read; it grows old as the clock runs
  is_complete INTEGER, -- 1 where a transfer or retirement finished it, else 0
  reserved_to_at TEXT, -- when the hold ends
  created_at TEXT, -- when the registry says it was created
  updated_at TEXT, -- when the registry says it last changed
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  document TEXT NOT NULL, -- the registry's whole object as sent
  UNIQUE (organization_id, id)
) STRICT;

-- Versions of reservations that are no longer true: changed or gone.
CREATE TABLE reservations_past (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  id TEXT NOT NULL, -- the registry's id
  credit_id TEXT NOT NULL, -- the credit that is held
  serialization TEXT, -- what names the credit in public
  type TEXT, -- exPost (issued) or exAnte (expected)
  amount REAL, -- tonnes, to look at; sums of it are not exact
  amount_micro INTEGER, -- millionths of a tonne, for exact sums; null where the amount is finer or larger than that holds
  amount_exact TEXT, -- the registry's own digits; null where it sent no usable number
  fault TEXT, -- what is wrong with the amount; null where nothing is
  project_id TEXT, -- the project that issued the credit
  project_name TEXT, -- the project's name as this row was sent with it
  reserver_id TEXT, -- the app that holds it
  reserver_name TEXT, -- name of that app
  state TEXT, -- the registry's own word when it was read; it grows old as the clock runs
  is_complete INTEGER, -- 1 where a transfer or retirement finished it, else 0
  reserved_to_at TEXT, -- when the hold ends
  created_at TEXT, -- when the registry says it was created
  updated_at TEXT, -- when the registry says it last changed
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- start of the read that no longer found it so; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL -- the registry's whole object as sent
) STRICT;
CREATE INDEX reservations_past_by_key ON reservations_past (organization_id, id);

-- Requests to move or retire credits of the main inventory, decided by an administrator of the organization.
CREATE TABLE inventory_requests (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  id TEXT NOT NULL, -- the registry's id
  credit_id TEXT NOT NULL, -- the credit concerned
  action TEXT, -- transfer, retire or transfer_retire
  state TEXT, -- the registry's own word
  type TEXT, -- exPost (issued) or exAnte (expected)
  serialization TEXT, -- what names the credit in public
  vintage TEXT, -- year of the reduction; where it was not sent, the year that ends the serialization
  amount REAL, -- tonnes, to look at; sums of it are not exact
  amount_micro INTEGER, -- millionths of a tonne, for exact sums; null where the amount is finer or larger than that holds
  amount_exact TEXT, -- the registry's own digits; null where it sent no usable number
  fault TEXT, -- what is wrong with the amount; null where nothing is
  from_organization_id TEXT, -- who gives
  to_organization_id TEXT, -- who receives
  to_address TEXT, -- the address that receives, where it is no organization
  project_id TEXT, -- the project that issued the credit
  project_name TEXT, -- the project's name as this row was sent with it
  tx_id TEXT, -- transaction on the chain; set once it was carried out
  retirement_reason TEXT, -- reason given for the retirement
  beneficiary TEXT, -- for whom it is to be retired
  retirement_comment TEXT, -- comment given for the retirement
  created_at TEXT, -- when the registry says it was created
  updated_at TEXT, -- when the registry says it last changed
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  document TEXT NOT NULL, -- the registry's whole object as sent
  UNIQUE (organization_id, id)
) STRICT;

-- Versions of inventory_requests that are no longer true: changed or gone.
CREATE TABLE inventory_requests_past (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  id TEXT NOT NULL, -- the registry's id
  credit_id TEXT NOT NULL, -- the credit concerned
  action TEXT, -- transfer, retire or transfer_retire
  state TEXT, -- the registry's own word
  type TEXT, -- exPost (issued) or exAnte (expected)
  serialization TEXT, -- what names the credit in public
  vintage TEXT, -- year of the reduction; where it was not sent, the year that ends the serialization
  amount REAL, -- tonnes, to look at; sums of it are not exact
  amount_micro INTEGER, -- millionths of a tonne, for exact sums; null where the amount is finer or larger than that holds
  amount_exact TEXT, -- the registry's own digits; null where it sent no usable number
  fault TEXT, -- what is wrong with the amount; null where nothing is
  from_organization_id TEXT, -- who gives
  to_organization_id TEXT, -- who receives
  to_address TEXT, -- the address that receives, where it is no organization
  project_id TEXT, -- the project that issued the credit
  project_name TEXT, -- the project's name as this row was sent with it
  tx_id TEXT, -- transaction on the chain; set once it was carried out
  retirement_reason TEXT, -- reason given for the retirement
  beneficiary TEXT, -- for whom it is to be retired
  retirement_comment TEXT, -- comment given for the retirement
  created_at TEXT, -- when the registry says it was created
  updated_at TEXT, -- when the registry says it last changed
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- start of the read that no longer found it so; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL -- the registry's whole object as sent
) STRICT;
CREATE INDEX inventory_requests_past_by_key ON inventory_requests_past (organization_id, id);

-- Credits retired for good.
CREATE TABLE retirements (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  id TEXT NOT NULL, -- the registry's id
  project_id TEXT, -- the project that issued the credit
  project_name TEXT, -- the project's name as this row was sent with it
  serialization TEXT, -- what names the credit in public
  vintage TEXT, -- year of the reduction; where it was not sent, the year that ends the serialization
  amount REAL, -- tonnes, to look at; sums of it are not exact
  amount_micro INTEGER, -- millionths of a tonne, for exact sums; null where the amount is finer or larger than that holds
  amount_exact TEXT, -- the registry's own digits; null where it sent no usable number
  fault TEXT, -- what is wrong with the amount; null where nothing is
  reason TEXT, -- reason given
  beneficiary TEXT, -- for whom it was retired; null where nobody has claimed it
  comment TEXT, -- comment given
  is_claimed INTEGER, -- 1 where somebody has claimed it, else 0
  created_at TEXT, -- when the registry says it was created
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  document TEXT NOT NULL, -- the registry's whole object as sent
  UNIQUE (organization_id, id)
) STRICT;
CREATE INDEX retirements_by_created_at ON retirements (organization_id, created_at);

-- Versions of retirements that are no longer true: changed or gone.
CREATE TABLE retirements_past (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  id TEXT NOT NULL, -- the registry's id
  project_id TEXT, -- the project that issued the credit
  project_name TEXT, -- the project's name as this row was sent with it
  serialization TEXT, -- what names the credit in public
  vintage TEXT, -- year of the reduction; where it was not sent, the year that ends the serialization
  amount REAL, -- tonnes, to look at; sums of it are not exact
  amount_micro INTEGER, -- millionths of a tonne, for exact sums; null where the amount is finer or larger than that holds
  amount_exact TEXT, -- the registry's own digits; null where it sent no usable number
  fault TEXT, -- what is wrong with the amount; null where nothing is
  reason TEXT, -- reason given
  beneficiary TEXT, -- for whom it was retired; null where nobody has claimed it
  comment TEXT, -- comment given
  is_claimed INTEGER, -- 1 where somebody has claimed it, else 0
  created_at TEXT, -- when the registry says it was created
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- start of the read that no longer found it so; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL -- the registry's whole object as sent
) STRICT;
CREATE INDEX retirements_past_by_key ON retirements_past (organization_id, id);

-- People of an organization. Left empty where the settings say so.
CREATE TABLE members (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  id TEXT NOT NULL, -- the registry's id, or a hash of the object where it sends none
  full_name TEXT, -- name
  email TEXT, -- e-mail address
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  document TEXT NOT NULL, -- the registry's whole object as sent
  UNIQUE (organization_id, id)
) STRICT;

-- Versions of members that are no longer true: changed or gone.
CREATE TABLE members_past (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  id TEXT NOT NULL, -- the registry's id, or a hash of the object where it sends none
  full_name TEXT, -- name
  email TEXT, -- e-mail address
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- start of the read that no longer found it so; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL -- the registry's whole object as sent
) STRICT;
CREATE INDEX members_past_by_key ON members_past (organization_id, id);

-- An organization's public addresses on the chain.
CREATE TABLE addresses (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  id TEXT NOT NULL, -- the registry's id, or a hash of the object where it sends none
  address TEXT, -- the address
  name TEXT, -- what the organization calls it
  is_default INTEGER, -- 1 for the one that is used unless another is named, else 0
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  document TEXT NOT NULL, -- the registry's whole object as sent
  UNIQUE (organization_id, id)
) STRICT;

-- Versions of addresses that are no longer true: changed or gone.
CREATE TABLE addresses_past (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  id TEXT NOT NULL, -- the registry's id, or a hash of the object where it sends none
  address TEXT, -- the address
  name TEXT, -- what the organization calls it
  is_default INTEGER, -- 1 for the one that is used unless another is named, else 0
  valid_from TEXT NOT NULL, -- start of the read that found this version; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- start of the read that no longer found it so; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL -- the registry's whole object as sent
) STRICT;
CREATE INDEX addresses_past_by_key ON addresses_past (organization_id, id);
