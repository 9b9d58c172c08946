-- The one registry that this mirror was filled from. It refuses any other. One row.
CREATE TABLE origin (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1), -- always 1
  base_url TEXT NOT NULL, -- address of the registry
  app_id TEXT NOT NULL, -- the app that reads it
  schedule_seconds INTEGER NOT NULL DEFAULT 900, -- time between two scheduled reads; twice as old is late
  created_at TEXT NOT NULL, -- when the mirror was first filled
  watched_at TEXT, -- the latest sign of life of any worker; one comes every 15 seconds
  listed_at TEXT -- when the registry's list of installations was last read to its end, and said of each what it may; null before
) STRICT;

-- The counter behind the column "version" of every table. One row.
CREATE TABLE version_counter (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1), -- always 1
  last INTEGER NOT NULL -- the newest number in use
) STRICT;
INSERT INTO version_counter VALUES (1, 0);

-- The highest claim seen per organization and lane. A write that carries a lower one is refused.
CREATE TABLE fences (
  organization_id TEXT NOT NULL, -- whose rows it guards
  lane TEXT NOT NULL CHECK (lane IN ('data', 'certificates')), -- the two kinds of work that may run side by side
  claim INTEGER NOT NULL, -- number of the newest claim
  PRIMARY KEY (organization_id, lane)
) STRICT, WITHOUT ROWID;

-- One read of one resource of one organization. Entered with its first write, or when it ends.
CREATE TABLE sync_runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT, -- rises in the order of writing
  organization_id TEXT, -- whose resource; null for what belongs to nobody
  resource TEXT NOT NULL, -- what was read
  trigger TEXT NOT NULL, -- what asked for it: delivery, schedule, worker or a person
  claim INTEGER NOT NULL, -- the claim that did it
  started_at TEXT NOT NULL, -- when the read began
  finished_at TEXT, -- when it ended; null while it runs
  state TEXT NOT NULL CHECK (state IN ('running', 'complete', 'partial', 'doubtful', 'failed')), -- how it ended
  requests INTEGER NOT NULL DEFAULT 0, -- calls to the registry
  bytes INTEGER NOT NULL DEFAULT 0, -- bytes that came back
  rows_added INTEGER NOT NULL DEFAULT 0, -- rows that were not there before
  rows_changed INTEGER NOT NULL DEFAULT 0, -- rows that got a new version
  rows_removed INTEGER NOT NULL DEFAULT 0, -- rows that were closed
  rows_unchanged INTEGER NOT NULL DEFAULT 0, -- rows that were seen and not written
  drift INTEGER NOT NULL DEFAULT 0, -- changes that no delivery had announced
  error_code TEXT, -- code of what went wrong; null where nothing did
  error TEXT, -- what went wrong, in words
  job_id INTEGER, -- the job of the inbox that did it; null where none did
  delivery_id INTEGER, -- the newest delivery that this job answers; null where none had asked for it
  answered_at TEXT, -- when the registry's latest answer had come; null while it runs, and where none came
  last_number INTEGER -- the newest number of the counter when the run last changed a row: none of its changes has a later one; null where it changed none
) STRICT;
CREATE INDEX sync_runs_by_resource ON sync_runs (organization_id, resource, id);
CREATE INDEX sync_runs_by_finished_at ON sync_runs (finished_at);
CREATE INDEX sync_runs_running ON sync_runs (id) WHERE state = 'running';
CREATE INDEX sync_runs_with_drift ON sync_runs (id) WHERE drift > 0;
-- Where the changes since an instant begin: after those of the runs that had ended by then.
CREATE INDEX sync_runs_that_changed ON sync_runs (finished_at) WHERE last_number IS NOT NULL;

-- What is known of each resource of each organization. People read the view "freshness" instead.
CREATE TABLE resource_states (
  organization_id TEXT NOT NULL, -- whose resource
  resource TEXT NOT NULL, -- what is read
  rows INTEGER NOT NULL DEFAULT 0, -- rows that are there now
  first_complete_at TEXT, -- end of the first complete read; what was before it is not known
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
  owner_told INTEGER NOT NULL DEFAULT 0 CHECK (owner_told IN (0, 1)), -- 1 where its answers say whose they are: one that does not say it closes no row
  every_seconds INTEGER, -- how often it is read without a webhook; null where each scheduled round reads it
  requests INTEGER, -- calls that the last complete read took
  PRIMARY KEY (organization_id, resource)
) STRICT;

-- What stood on each page of a paginated list when it was last read, so that an unchanged page costs nothing.
CREATE TABLE read_pages (
  organization_id TEXT NOT NULL, -- whose list
  resource TEXT NOT NULL, -- which list
  page INTEGER NOT NULL, -- number of the page, from 0
  digest TEXT NOT NULL, -- hash of the documents on it
  versions BLOB NOT NULL, -- the versions on it, eight bytes each
  PRIMARY KEY (organization_id, resource, page)
) STRICT, WITHOUT ROWID;

-- The projects that an organization's rows have ever named.
CREATE TABLE project_references (
  organization_id TEXT NOT NULL, -- whose rows
  project_id TEXT NOT NULL, -- the project they name
  PRIMARY KEY (organization_id, project_id)
) STRICT, WITHOUT ROWID;

-- Whether a project could be read when it was last asked for.
CREATE TABLE project_states (
  project_id TEXT PRIMARY KEY, -- the project
  state TEXT NOT NULL CHECK (state IN ('readable', 'unavailable')), -- unavailable: the registry does not show it to us
  checked_at TEXT NOT NULL, -- start of the latest question
  error TEXT -- what the registry answered; null where it is readable
) STRICT, WITHOUT ROWID;

-- People who asked to be forgotten: a hash of the e-mail address, so that the next read does not bring them back.
CREATE TABLE forgotten_people (
  email_sha256 TEXT PRIMARY KEY, -- SHA-256 of the address in lower case
  forgotten_at TEXT NOT NULL -- when it was asked for
) STRICT, WITHOUT ROWID;

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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- when the answer with the next version had arrived, or the end of the read that no longer found it; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL, -- the registry's whole object as sent
  closed_version INTEGER NOT NULL -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone
) STRICT;
CREATE INDEX installations_past_by_key ON installations_past (id);
-- Each number once, and to be read in their order.
CREATE UNIQUE INDEX installations_past_by_closed_version ON installations_past (closed_version);

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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- when the answer with the next version had arrived, or the end of the read that no longer found it; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL, -- the registry's whole object as sent
  closed_version INTEGER NOT NULL -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone
) STRICT;
CREATE INDEX organizations_past_by_key ON organizations_past (id);
CREATE UNIQUE INDEX organizations_past_by_closed_version ON organizations_past (closed_version);

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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- when the answer with the next version had arrived, or the end of the read that no longer found it; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL, -- the registry's whole object as sent
  closed_version INTEGER NOT NULL -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone
) STRICT;
CREATE INDEX projects_past_by_key ON projects_past (id);
CREATE UNIQUE INDEX projects_past_by_closed_version ON projects_past (closed_version);

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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- when the answer with the next version had arrived, or the end of the read that no longer found it; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL, -- the registry's whole object as sent
  closed_version INTEGER NOT NULL -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone
) STRICT;
CREATE INDEX warehouse_credits_past_by_key ON warehouse_credits_past (organization_id, credit_id, inventory_id);
CREATE UNIQUE INDEX warehouse_credits_past_by_closed_version ON warehouse_credits_past (closed_version);

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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- when the answer with the next version had arrived, or the end of the read that no longer found it; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL, -- the registry's whole object as sent
  closed_version INTEGER NOT NULL -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone
) STRICT;
CREATE INDEX inventory_credits_past_by_key ON inventory_credits_past (organization_id, credit_id, inventory_id);
CREATE UNIQUE INDEX inventory_credits_past_by_closed_version ON inventory_credits_past (closed_version);

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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- when the answer with the next version had arrived, or the end of the read that no longer found it; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL, -- the registry's whole object as sent
  closed_version INTEGER NOT NULL -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone
) STRICT;
CREATE INDEX reservations_past_by_key ON reservations_past (organization_id, id);
CREATE UNIQUE INDEX reservations_past_by_closed_version ON reservations_past (closed_version);

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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- when the answer with the next version had arrived, or the end of the read that no longer found it; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL, -- the registry's whole object as sent
  closed_version INTEGER NOT NULL -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone
) STRICT;
CREATE INDEX inventory_requests_past_by_key ON inventory_requests_past (organization_id, id);
CREATE UNIQUE INDEX inventory_requests_past_by_closed_version ON inventory_requests_past (closed_version);

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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  document TEXT NOT NULL, -- the registry's whole object as sent
  UNIQUE (organization_id, id)
) STRICT;
-- All that is added up by organization and month, so that no row is looked at.
CREATE INDEX retirements_by_created_at ON retirements (organization_id, created_at, amount_micro);

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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- when the answer with the next version had arrived, or the end of the read that no longer found it; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL, -- the registry's whole object as sent
  closed_version INTEGER NOT NULL -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone
) STRICT;
CREATE INDEX retirements_past_by_key ON retirements_past (organization_id, id);
CREATE UNIQUE INDEX retirements_past_by_closed_version ON retirements_past (closed_version);

-- People of an organization. Left empty where the settings say so.
CREATE TABLE members (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  id TEXT NOT NULL, -- the registry's id, or a hash of the object where it sends none
  full_name TEXT, -- name
  email TEXT, -- e-mail address
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- when the answer with the next version had arrived, or the end of the read that no longer found it; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL, -- the registry's whole object as sent
  closed_version INTEGER NOT NULL -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone
) STRICT;
CREATE INDEX members_past_by_key ON members_past (organization_id, id);
CREATE UNIQUE INDEX members_past_by_closed_version ON members_past (closed_version);

-- An organization's public addresses on the chain.
CREATE TABLE addresses (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  id TEXT NOT NULL, -- the registry's id, or a hash of the object where it sends none
  address TEXT, -- the address
  name TEXT, -- what the organization calls it
  is_default INTEGER, -- 1 for the one that is used unless another is named, else 0
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
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
  valid_from TEXT NOT NULL, -- when the answer that showed this version had arrived; the registry may have changed earlier
  valid_to TEXT NOT NULL, -- when the answer with the next version had arrived, or the end of the read that no longer found it; it was true before, not at, this instant
  sync_run_id INTEGER NOT NULL, -- the sync run that wrote it; old runs are removed in time
  closed_by INTEGER NOT NULL, -- the sync run that closed it
  document TEXT NOT NULL, -- the registry's whole object as sent
  closed_version INTEGER NOT NULL -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone
) STRICT;
CREATE INDEX addresses_past_by_key ON addresses_past (organization_id, id);
CREATE UNIQUE INDEX addresses_past_by_closed_version ON addresses_past (closed_version);

-- One certificate per retirement: what is stored, and when to ask again.
CREATE TABLE certificates (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  retirement_id TEXT NOT NULL, -- the retirement that it proves
  state TEXT NOT NULL CHECK (state IN ('pending', 'unavailable', 'stored')), -- pending: not asked for yet; unavailable: the registry has none yet; stored: the file is here
  file TEXT, -- name of the file in the folder of certificates; never written twice
  sha256 TEXT, -- SHA-256 of the file in hex
  size INTEGER, -- length of the file in bytes
  fetched_at TEXT, -- when this file was fetched
  checked_at TEXT, -- when the registry was last asked for it
  due_at TEXT NOT NULL, -- when the registry is to be asked next
  attempts INTEGER NOT NULL DEFAULT 0, -- questions in a row that brought no file
  error TEXT, -- why the latest answer was not stored; null where nothing is wrong
  retirement_version INTEGER NOT NULL, -- the version of the retirement that it was asked for
  valid_from TEXT NOT NULL, -- when this file had arrived to its end; for a row without a file, when it was entered
  sync_run_id INTEGER, -- the sync run that fetched the file; null before
  UNIQUE (organization_id, retirement_id),
  CHECK ((state = 'stored') = (file IS NOT NULL AND sha256 IS NOT NULL AND size IS NOT NULL AND fetched_at IS NOT NULL))
) STRICT;
CREATE INDEX certificates_by_due_at ON certificates (organization_id, due_at);
CREATE INDEX certificates_not_stored ON certificates (organization_id, state) WHERE state <> 'stored';
CREATE INDEX certificates_by_file ON certificates (file) WHERE file IS NOT NULL;
CREATE TRIGGER certificates_count_new AFTER INSERT ON certificates BEGIN
  INSERT INTO certificate_sums VALUES (new.organization_id, new.state, 1)
  ON CONFLICT DO UPDATE SET certificates = certificates + 1;
END;
CREATE TRIGGER certificates_count_state AFTER UPDATE OF state ON certificates WHEN new.state <> old.state BEGIN
  UPDATE certificate_sums SET certificates = certificates - 1
  WHERE organization_id = old.organization_id AND state = old.state;
  INSERT INTO certificate_sums VALUES (new.organization_id, new.state, 1)
  ON CONFLICT DO UPDATE SET certificates = certificates + 1;
END;
CREATE TRIGGER certificates_count_gone AFTER DELETE ON certificates BEGIN
  UPDATE certificate_sums SET certificates = certificates - 1
  WHERE organization_id = old.organization_id AND state = old.state;
END;

-- Certificates that were replaced by another file, or whose retirement is gone. Their files are kept.
CREATE TABLE certificates_past (
  version INTEGER PRIMARY KEY, -- number of this version; rises over all tables and is never used twice
  organization_id TEXT NOT NULL, -- the organization whose list it stood in
  retirement_id TEXT NOT NULL, -- the retirement that it proves
  state TEXT NOT NULL CHECK (state IN ('pending', 'unavailable', 'stored')), -- pending: not asked for yet; unavailable: the registry has none yet; stored: the file is here
  file TEXT, -- name of the file in the folder of certificates; never written twice
  sha256 TEXT, -- SHA-256 of the file in hex
  size INTEGER, -- length of the file in bytes
  fetched_at TEXT, -- when this file was fetched
  checked_at TEXT, -- when the registry was last asked for it
  due_at TEXT NOT NULL, -- when the registry is to be asked next
  attempts INTEGER NOT NULL DEFAULT 0, -- questions in a row that brought no file
  error TEXT, -- why the latest answer was not stored; null where nothing is wrong
  retirement_version INTEGER NOT NULL, -- the version of the retirement that it was asked for
  valid_from TEXT NOT NULL, -- when this file had arrived to its end; for a row without a file, when it was entered
  valid_to TEXT NOT NULL, -- when the answer with the next version had arrived, or the end of the read that no longer found it; it was true before, not at, this instant
  sync_run_id INTEGER, -- the sync run that fetched the file; null before
  closed_by INTEGER, -- the sync run that closed it
  closed_version INTEGER NOT NULL -- number of the counter that its closing took: that of the version in its place, or one of its own where the row was gone
) STRICT;
CREATE INDEX certificates_past_by_key ON certificates_past (organization_id, retirement_id);
CREATE INDEX certificates_past_by_file ON certificates_past (file) WHERE file IS NOT NULL;
CREATE UNIQUE INDEX certificates_past_by_closed_version ON certificates_past (closed_version);

-- How many certificates are in which state. Kept by triggers, so that nobody has to count a million rows.
CREATE TABLE certificate_sums (
  organization_id TEXT NOT NULL, -- whose certificates
  state TEXT NOT NULL, -- pending, unavailable or stored
  certificates INTEGER NOT NULL, -- how many
  PRIMARY KEY (organization_id, state)
) STRICT, WITHOUT ROWID;

-- How far certificates have been entered for new and changed retirements. One row.
CREATE TABLE certificate_mark (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1), -- always 1
  retirement_version INTEGER NOT NULL -- every retirement up to this version has a row in certificates
) STRICT;
INSERT INTO certificate_mark VALUES (1, 0);

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
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier
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
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier
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
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier
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
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier
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
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier
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
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier
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
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier
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
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier
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

-- Every version of members, past and present. As of an instant: valid_from <= it and (valid_to IS NULL or valid_to > it).
CREATE VIEW members_history (
  version, -- number of this version; rises over all tables and is never used twice
  organization_id, -- the organization whose list it stood in
  id, -- the registry's id, or a hash of the object where it sends none
  full_name, -- name
  email, -- e-mail address
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier
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

-- Every version of addresses, past and present. As of an instant: valid_from <= it and (valid_to IS NULL or valid_to > it).
CREATE VIEW addresses_history (
  version, -- number of this version; rises over all tables and is never used twice
  organization_id, -- the organization whose list it stood in
  id, -- the registry's id, or a hash of the object where it sends none
  address, -- the address
  name, -- what the organization calls it
  is_default, -- 1 for the one that is used unless another is named, else 0
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier
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
  valid_from, -- when this file had arrived to its end; for a row without a file, when it was entered
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

-- Credits in the warehouses by organization, project, vintage, type and credit, whatever their freshness. Amounts are added in whole tonnes and in millionths beyond, so that no sum overflows.
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
  age_seconds, -- how long ago that was
  credit_id -- the credit, by which it is reserved
) AS
WITH sums AS (
  SELECT organization_id, project_id, vintage, type, credit_id,
    max(project_name) AS project_name,
    coalesce(sum(amount_micro / 1000000), 0) AS tonnes,
    coalesce(sum(amount_micro % 1000000), 0) AS micro,
    count(*) AS rows,
    count(*) - count(amount_micro) AS rows_not_summed
  FROM warehouse_credits
  GROUP BY organization_id, project_id, vintage, type, credit_id
)
SELECT s.organization_id, o.full_name, s.project_id, coalesce(p.full_name, s.project_name), s.vintage, s.type,
  s.tonnes + s.micro / 1000000.0,
  CASE WHEN abs(s.tonnes) < 9000000000000 THEN s.tonnes * 1000000 + s.micro END,
  s.rows, s.rows_not_summed, f.state, f.complete_at, f.age_seconds, s.credit_id
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
  age_seconds, -- how long ago that was
  credit_id -- the credit, by which it is reserved
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
  age_seconds, -- how long ago that was
  credit_id -- the credit, by which it is reserved
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
WITH sums AS (
  SELECT organization_id, nullif(beneficiary, '') AS beneficiary,
    coalesce(sum(amount_micro / 1000000), 0) AS tonnes,
    coalesce(sum(amount_micro % 1000000), 0) AS micro,
    count(*) AS rows,
    count(*) - count(amount_micro) AS rows_not_summed
  FROM retirements
  GROUP BY organization_id, nullif(beneficiary, '')
)
SELECT s.organization_id, s.beneficiary, s.tonnes + s.micro / 1000000.0,
  CASE WHEN abs(s.tonnes) < 9000000000000 THEN s.tonnes * 1000000 + s.micro END,
  s.rows, s.rows_not_summed, f.state, f.complete_at, f.age_seconds
FROM sums AS s
LEFT JOIN freshness AS f ON f.organization_id = s.organization_id AND f.resource = 'retirements';

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
WITH sums AS (
  SELECT organization_id, substr(created_at, 1, 7) AS month,
    coalesce(sum(amount_micro / 1000000), 0) AS tonnes,
    coalesce(sum(amount_micro % 1000000), 0) AS micro,
    count(*) AS rows,
    count(*) - count(amount_micro) AS rows_not_summed
  FROM retirements
  GROUP BY organization_id, substr(created_at, 1, 7)
)
SELECT s.organization_id, s.month, s.tonnes + s.micro / 1000000.0,
  CASE WHEN abs(s.tonnes) < 9000000000000 THEN s.tonnes * 1000000 + s.micro END,
  s.rows, s.rows_not_summed, f.state, f.complete_at, f.age_seconds
FROM sums AS s
LEFT JOIN freshness AS f ON f.organization_id = s.organization_id AND f.resource = 'retirements';

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
  valid_from, -- when the answer that showed this version had arrived; the registry may have changed earlier
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

-- What was announced and not read yet: for each resource the oldest delivery that came at or after the start of its last
-- complete read. A worker copies it from the inbox once it is 15 seconds old, and removes it at its next look after a
-- read has answered it. Certificates have no row: they wait for what retirements wait for.
CREATE TABLE announcements (
  organization_id TEXT NOT NULL, -- whose resource
  resource TEXT NOT NULL, -- what is to be read
  announced_at TEXT NOT NULL, -- when the delivery came
  PRIMARY KEY (organization_id, resource)
) STRICT, WITHOUT ROWID;

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

-- What cannot be right in what the registry says of credits, a row each. An amount below zero; a serialization of issued credits that stands for two of them; what reservations and inventory requests have retired since the first reads and is listed as before; a hold that a complete read an hour after its end still showed with the state of one that stands. Every row of the lists is looked at.
CREATE VIEW credit_findings (
  finding, -- negative_amount, serialization_twice, listed_and_retired or hold_outlived
  organization_id, -- whose list it stands in
  resource, -- which list, by its word in sync_runs
  id, -- id of the row: of a credit its credit_id
  serialization, -- what names the credit in public
  amount_exact, -- the registry's own digits; null where it sent no usable number
  found -- what is wrong, in words
) AS
WITH amounts AS (
  SELECT organization_id, 'warehouse' AS resource, credit_id AS id, serialization, amount, amount_exact, fault FROM warehouse_credits
  UNION ALL
  SELECT organization_id, 'inventory' AS resource, credit_id AS id, serialization, amount, amount_exact, fault FROM inventory_credits
  UNION ALL
  SELECT organization_id, 'reservations' AS resource, id AS id, serialization, amount, amount_exact, fault FROM reservations
  UNION ALL
  SELECT organization_id, 'inventory_requests' AS resource, id AS id, serialization, amount, amount_exact, fault FROM inventory_requests
  UNION ALL
  SELECT organization_id, 'retirements' AS resource, id AS id, serialization, amount, amount_exact, fault FROM retirements
),
issued AS (
  SELECT organization_id, 'warehouse' AS resource, credit_id, lower(serialization) AS serial, serialization, amount_exact FROM warehouse_credits WHERE type = 'exPost' AND serialization IS NOT NULL
  UNION ALL
  SELECT organization_id, 'inventory' AS resource, credit_id, lower(serialization) AS serial, serialization, amount_exact FROM inventory_credits WHERE type = 'exPost' AND serialization IS NOT NULL
),
twice AS (
  SELECT serial, min(credit_id) AS one, max(credit_id) AS other FROM issued GROUP BY serial HAVING min(credit_id) <> max(credit_id)
),
judged AS (
  SELECT organization_id, max(first_complete_at) AS since, min(complete_at) AS settled_at FROM resource_states
  WHERE resource IN ('warehouse', 'inventory', 'reservations') GROUP BY organization_id HAVING count(first_complete_at) = 3
),
retired AS (
  SELECT r.organization_id, r.id, r.serialization, lower(r.serialization) AS serial, r.amount_micro, r.amount_exact, r.created_at
  FROM retirements AS r JOIN judged AS j ON j.organization_id = r.organization_id
  WHERE r.created_at > j.since AND r.serialization IS NOT NULL
),
stock AS (
  SELECT organization_id, credit_id, lower(serialization) AS serial, amount_micro, valid_from, valid_to, NULL AS held_to FROM warehouse_credits_history WHERE coalesce(type, '') <> 'exAnte' AND lower(serialization) IN (SELECT serial FROM retired)
  UNION ALL
  SELECT organization_id, credit_id, lower(serialization) AS serial, amount_micro, valid_from, valid_to, NULL AS held_to FROM inventory_credits_history WHERE coalesce(type, '') <> 'exAnte' AND lower(serialization) IN (SELECT serial FROM retired)
  UNION ALL
  SELECT organization_id, credit_id, lower(serialization) AS serial, amount_micro, valid_from, valid_to, reserved_to_at AS held_to FROM reservations_history WHERE coalesce(type, '') <> 'exAnte' AND lower(serialization) IN (SELECT serial FROM retired) AND coalesce(is_complete, 0) = 0 AND lower(coalesce(state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired')
),
serials AS (
  SELECT s.serial, max(j.since) AS since, min(j.settled_at) AS settled_at
  FROM (SELECT DISTINCT organization_id, serial FROM stock) AS s JOIN judged AS j ON j.organization_id = s.organization_id GROUP BY s.serial
),
stood AS (
  SELECT p.serial, (coalesce(sum(CASE WHEN s.valid_from <= p.since AND (s.valid_to IS NULL OR s.valid_to > p.since) AND (s.held_to IS NULL OR s.held_to > p.since) THEN s.amount_micro ELSE 0 END / 1000000), 0) * 1000000 + coalesce(sum(CASE WHEN s.valid_from <= p.since AND (s.valid_to IS NULL OR s.valid_to > p.since) AND (s.held_to IS NULL OR s.held_to > p.since) THEN s.amount_micro ELSE 0 END % 1000000), 0)) AS opening,
    (coalesce(sum(CASE WHEN s.valid_to IS NULL AND (s.held_to IS NULL OR s.held_to > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) THEN s.amount_micro ELSE 0 END / 1000000), 0) * 1000000 + coalesce(sum(CASE WHEN s.valid_to IS NULL AND (s.held_to IS NULL OR s.held_to > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) THEN s.amount_micro ELSE 0 END % 1000000), 0)) AS closing,
    max(CASE WHEN s.valid_from > p.since THEN s.valid_from END) AS moved_at, min(s.valid_from) AS seen_at
  FROM stock AS s JOIN judged AS j ON j.organization_id = s.organization_id JOIN serials AS p ON p.serial = s.serial GROUP BY p.serial
),
taken AS (
  SELECT p.serial, (coalesce(sum(r.amount_micro / 1000000), 0) * 1000000 + coalesce(sum(r.amount_micro % 1000000), 0)) AS micro
  FROM retired AS r JOIN serials AS p ON p.serial = r.serial AND r.created_at > p.since AND r.created_at <= p.settled_at GROUP BY p.serial
),
used AS (
  SELECT p.serial, (coalesce(sum(u.amount_micro / 1000000), 0) * 1000000 + coalesce(sum(u.amount_micro % 1000000), 0)) AS micro
  FROM credit_uses AS u JOIN serials AS p ON p.serial = lower(u.serialization) AND u.begun_at > p.since AND u.ended_at <= p.settled_at GROUP BY p.serial
),
rises AS (
  SELECT p.serial, (coalesce(sum(m.moved_micro / 1000000), 0) * 1000000 + coalesce(sum(m.moved_micro % 1000000), 0)) AS micro
  FROM credit_moves AS m JOIN serials AS p ON p.serial = lower(m.serialization) AND m.learnt_at > p.since WHERE coalesce(m.type, '') <> 'exAnte' AND m.place <> 'held' AND m.moved_micro > 0 GROUP BY p.serial
),
listed AS (
  SELECT p.serial, p.since, p.settled_at FROM serials AS p JOIN stood AS s ON s.serial = p.serial JOIN taken AS x ON x.serial = p.serial
  JOIN used AS u ON u.serial = p.serial LEFT JOIN rises AS e ON e.serial = p.serial
  WHERE s.seen_at <= p.since AND min(x.micro, u.micro) > 0 AND s.opening - s.closing + coalesce(e.micro, 0) < min(x.micro, u.micro) AND (s.moved_at IS NULL OR s.moved_at < p.settled_at)
)
SELECT 'negative_amount', organization_id, resource, id, serialization, amount_exact, 'its amount is below zero'
FROM amounts WHERE amount < 0 OR fault = 'negative'
UNION ALL
SELECT 'serialization_twice', i.organization_id, i.resource, i.credit_id, i.serialization, i.amount_exact,
  'its serialization stands for credit ' || CASE WHEN i.credit_id = t.one THEN t.other ELSE t.one END || ' too'
FROM issued AS i JOIN twice AS t ON t.serial = i.serial
UNION ALL
SELECT 'listed_and_retired', r.organization_id, 'retirements', r.id, r.serialization, r.amount_exact,
  'less of its serialization has gone from the lists than reservations and requests have retired of it'
FROM retired AS r JOIN listed AS l ON l.serial = r.serial AND r.created_at > l.since AND r.created_at <= l.settled_at
WHERE EXISTS (SELECT 1 FROM credit_uses AS u WHERE lower(u.serialization) = r.serial AND u.amount_micro = r.amount_micro AND u.begun_at > l.since AND u.begun_at <= r.created_at)
UNION ALL
SELECT 'hold_outlived', r.organization_id, 'reservations', r.id, r.serialization, r.amount_exact,
  'it ended at ' || r.reserved_to_at || ' and is listed as ' || r.state
FROM reservations AS r JOIN resource_states AS s ON s.organization_id = r.organization_id AND s.resource = 'reservations'
WHERE coalesce(r.is_complete, 0) = 0 AND lower(r.state) NOT IN ('finished', 'cancelled', 'expired')
  AND s.complete_at >= strftime('%Y-%m-%dT%H:%M:%fZ', r.reserved_to_at, '+1 hour');

-- What each credit was seen to rise or fall by between two reads, in the warehouse, in the inventory and held, since the first complete read of that list: what that showed is the opening balance, and rose nowhere. In and out of a place are not told by the registry: what came and went within one read is not seen.
CREATE VIEW credit_moves (
  number, -- number of the counter that the change took as it was committed
  learnt_at, -- when the answer that showed it had arrived; the registry may have changed earlier
  organization_id, -- the organization whose list it stood in
  place, -- warehouse, inventory or held; a hold that is over counts nothing
  credit_id, -- the registry's id of the credit
  part, -- which row of it: its inventory, or the id of the hold
  project_id, -- the project that issued the credit
  vintage, -- year of the reduction; of a hold the year that ends its serialization
  serialization, -- what names the credit in public
  before_micro, -- millionths of a tonne that stood there; null where the row is new or had no usable amount
  after_micro, -- millionths of a tonne that stand there since; null where the row is gone or has no usable amount
  moved_micro, -- after less before, null counted as nothing; null where that is too large
  type -- exPost (issued) or exAnte (expected)
) AS
SELECT n.version, n.valid_from, n.organization_id, 'warehouse', n.credit_id, n.inventory_id, n.project_id, n.vintage, n.serialization,
  CASE WHEN p.version IS NOT NULL THEN p.amount_micro END, n.amount_micro, CASE WHEN abs((coalesce(n.amount_micro, 0) - coalesce(p.amount_micro, 0))) < 9000000000000000000 THEN CAST((coalesce(n.amount_micro, 0) - coalesce(p.amount_micro, 0)) AS INTEGER) END, n.type
FROM warehouse_credits_history AS n LEFT JOIN warehouse_credits_past AS p ON p.closed_version = n.version
JOIN resource_states AS s ON s.organization_id = n.organization_id AND s.resource = 'warehouse' AND n.valid_from > s.first_complete_at
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'warehouse', p.credit_id, p.inventory_id, p.project_id, p.vintage, p.serialization,
  p.amount_micro, NULL, CASE WHEN abs((0 - coalesce(p.amount_micro, 0))) < 9000000000000000000 THEN CAST((0 - coalesce(p.amount_micro, 0)) AS INTEGER) END, p.type
FROM warehouse_credits_past AS p
JOIN resource_states AS s ON s.organization_id = p.organization_id AND s.resource = 'warehouse' AND p.valid_to > s.first_complete_at
WHERE NOT EXISTS (SELECT 1 FROM warehouse_credits AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM warehouse_credits_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, 'inventory', n.credit_id, n.inventory_id, n.project_id, n.vintage, n.serialization,
  CASE WHEN p.version IS NOT NULL THEN p.amount_micro END, n.amount_micro, CASE WHEN abs((coalesce(n.amount_micro, 0) - coalesce(p.amount_micro, 0))) < 9000000000000000000 THEN CAST((coalesce(n.amount_micro, 0) - coalesce(p.amount_micro, 0)) AS INTEGER) END, n.type
FROM inventory_credits_history AS n LEFT JOIN inventory_credits_past AS p ON p.closed_version = n.version
JOIN resource_states AS s ON s.organization_id = n.organization_id AND s.resource = 'inventory' AND n.valid_from > s.first_complete_at
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'inventory', p.credit_id, p.inventory_id, p.project_id, p.vintage, p.serialization,
  p.amount_micro, NULL, CASE WHEN abs((0 - coalesce(p.amount_micro, 0))) < 9000000000000000000 THEN CAST((0 - coalesce(p.amount_micro, 0)) AS INTEGER) END, p.type
FROM inventory_credits_past AS p
JOIN resource_states AS s ON s.organization_id = p.organization_id AND s.resource = 'inventory' AND p.valid_to > s.first_complete_at
WHERE NOT EXISTS (SELECT 1 FROM inventory_credits AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM inventory_credits_past AS n WHERE n.version = p.closed_version)
UNION ALL
SELECT n.version, n.valid_from, n.organization_id, 'held', n.credit_id, n.id, n.project_id, CASE WHEN n.serialization GLOB '*-[0-9][0-9][0-9][0-9]' THEN substr(n.serialization, -4) END, n.serialization,
  CASE WHEN p.version IS NOT NULL THEN CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END END, CASE WHEN coalesce(n.is_complete, 0) = 0 AND lower(coalesce(n.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN n.amount_micro ELSE 0 END, CASE WHEN abs((coalesce(CASE WHEN coalesce(n.is_complete, 0) = 0 AND lower(coalesce(n.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN n.amount_micro ELSE 0 END, 0) - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0))) < 9000000000000000000 THEN CAST((coalesce(CASE WHEN coalesce(n.is_complete, 0) = 0 AND lower(coalesce(n.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN n.amount_micro ELSE 0 END, 0) - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0)) AS INTEGER) END, n.type
FROM reservations_history AS n LEFT JOIN reservations_past AS p ON p.closed_version = n.version
JOIN resource_states AS s ON s.organization_id = n.organization_id AND s.resource = 'reservations' AND n.valid_from > s.first_complete_at
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'held', p.credit_id, p.id, p.project_id, CASE WHEN p.serialization GLOB '*-[0-9][0-9][0-9][0-9]' THEN substr(p.serialization, -4) END, p.serialization,
  CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, NULL, CASE WHEN abs((0 - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0))) < 9000000000000000000 THEN CAST((0 - coalesce(CASE WHEN coalesce(p.is_complete, 0) = 0 AND lower(coalesce(p.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN p.amount_micro ELSE 0 END, 0)) AS INTEGER) END, p.type
FROM reservations_past AS p
JOIN resource_states AS s ON s.organization_id = p.organization_id AND s.resource = 'reservations' AND p.valid_to > s.first_complete_at
WHERE NOT EXISTS (SELECT 1 FROM reservations AS n WHERE n.version = p.closed_version)
  AND NOT EXISTS (SELECT 1 FROM reservations_past AS n WHERE n.version = p.closed_version);

-- Retirements added up in three ways: by month and by beneficiary, as their columns say it and as the registry's own digits say it, and by what became of their certificates, as the rows and as the counters say it. Each of both sides must be the same.
CREATE VIEW balance_retirements (
  organization_id, -- who retired
  reckoning, -- month, beneficiary or certificate
  value, -- the month, the beneficiary, or stored, pending, unclaimed and missing; '' where there is none
  rows, -- how many retirements are listed so
  amount_micro, -- millionths of a tonne that they add up to; null where that is too large
  counted_rows, -- how many there are by the other side
  counted_micro, -- millionths of a tonne by the registry's own digits; of certificates no amount is counted
  ties -- 1 where both sides are the same, else 0
) AS
WITH listed AS (
  SELECT organization_id, 'month' AS reckoning, coalesce(substr(created_at, 1, 7), '') AS value, amount_micro, CASE WHEN amount_micro IS NOT NULL AND amount_exact GLOB '[0-9]*' AND amount_exact NOT GLOB '*[^0-9.]*' THEN CAST(CASE WHEN instr(amount_exact, '.') = 0 THEN amount_exact || '000000' ELSE substr(amount_exact, 1, instr(amount_exact, '.') - 1) || substr(substr(amount_exact, instr(amount_exact, '.') + 1) || '000000', 1, 6) END AS INTEGER) ELSE amount_micro END AS told_micro FROM retirements
  UNION ALL
  SELECT organization_id, 'beneficiary', coalesce(beneficiary, ''), amount_micro, CASE WHEN amount_micro IS NOT NULL AND amount_exact GLOB '[0-9]*' AND amount_exact NOT GLOB '*[^0-9.]*' THEN CAST(CASE WHEN instr(amount_exact, '.') = 0 THEN amount_exact || '000000' ELSE substr(amount_exact, 1, instr(amount_exact, '.') - 1) || substr(substr(amount_exact, instr(amount_exact, '.') + 1) || '000000', 1, 6) END AS INTEGER) ELSE amount_micro END FROM retirements
),
certified AS (
  SELECT r.organization_id, CASE
      WHEN c.state = 'stored' THEN 'stored'
      WHEN c.state IS NULL AND r.version <= (SELECT retirement_version FROM certificate_mark) THEN 'missing'
      WHEN coalesce(r.beneficiary, '') = '' THEN 'unclaimed'
      ELSE 'pending'
    END AS value, r.amount_micro, c.state
  FROM retirements AS r LEFT JOIN certificates AS c ON c.organization_id = r.organization_id AND c.retirement_id = r.id
),
sides AS (
  SELECT organization_id, reckoning, value, count(*) AS rows, (coalesce(sum(amount_micro / 1000000), 0) * 1000000 + coalesce(sum(amount_micro % 1000000), 0)) AS micro, count(*) AS counted, (coalesce(sum(told_micro / 1000000), 0) * 1000000 + coalesce(sum(told_micro % 1000000), 0)) AS counted_micro
  FROM listed GROUP BY organization_id, reckoning, value
  UNION ALL
  SELECT organization_id, 'certificate', value, count(*), (coalesce(sum(amount_micro / 1000000), 0) * 1000000 + coalesce(sum(amount_micro % 1000000), 0)),
    count(*) FILTER (WHERE value <> 'stored' AND state IS NULL AND value <> 'missing'), (coalesce(sum(amount_micro / 1000000), 0) * 1000000 + coalesce(sum(amount_micro % 1000000), 0))
  FROM certified GROUP BY organization_id, value
  UNION ALL
  SELECT organization_id, 'certificate', 'stored', 0, 0, certificates, 0
  FROM certificate_sums WHERE state = 'stored'
  UNION ALL
  SELECT organization_id, 'certificate', 'unclaimed', 0, 0, count(*), 0
  FROM certified WHERE value = 'unclaimed' AND state IS NOT NULL GROUP BY organization_id
  UNION ALL
  SELECT s.organization_id, 'certificate', 'pending', 0, 0,
    s.certificates - (SELECT count(*) FROM certified AS c WHERE c.organization_id = s.organization_id AND c.value = 'unclaimed' AND c.state IS NOT NULL), 0
  FROM (SELECT organization_id, sum(certificates) AS certificates FROM certificate_sums WHERE state <> 'stored' GROUP BY organization_id) AS s
),
added AS (
  SELECT organization_id, reckoning, value, sum(rows) AS rows, sum(micro) AS micro,
    sum(counted) AS counted, sum(counted_micro) AS counted_micro
  FROM sides GROUP BY organization_id, reckoning, value
)
SELECT organization_id, reckoning, value, rows, CASE WHEN abs(micro) < 9000000000000000000 THEN CAST(micro AS INTEGER) END, counted, CASE WHEN abs(counted_micro) < 9000000000000000000 THEN CAST(counted_micro AS INTEGER) END, CASE WHEN rows = counted AND micro = counted_micro THEN 1 ELSE 0 END
FROM added WHERE rows <> 0 OR counted <> 0;

-- Per credit and place: what stood there at the end of the list's first complete read, and what it was seen to rise and to fall by since, adds up to what is listed now, by the registry's own digits. Lists that were never read completely are left out.
CREATE VIEW balance_credits (
  organization_id, -- the organization whose list it stands in
  place, -- warehouse, inventory or held
  credit_id, -- the registry's id of the credit
  part, -- which row of it: its inventory, or the id of the hold
  moves, -- how often it was seen to move
  risen_micro, -- millionths of a tonne that it was seen to rise by; null where that is too large
  fallen_micro, -- millionths of a tonne that it was seen to fall by; null where that is too large
  listed_micro, -- millionths of a tonne that are listed now; null where that is too large
  ties, -- 1 where they add up, else 0
  type, -- exPost (issued) or exAnte (expected)
  opening_micro, -- millionths of a tonne that stood there when its list had first been read completely; null where that is too large
  opening_at -- when that was
) AS
WITH sides AS (
  SELECT organization_id, place, credit_id, part, max(coalesce(moved_micro, 0), 0) AS risen, max(0 - coalesce(moved_micro, 0), 0) AS fallen, 0 AS listed, 0 AS opening, type
  FROM credit_moves
  UNION ALL
  SELECT organization_id, 'warehouse', credit_id, inventory_id, 0, 0, CASE WHEN amount_micro IS NOT NULL AND amount_exact GLOB '[0-9]*' AND amount_exact NOT GLOB '*[^0-9.]*' THEN CAST(CASE WHEN instr(amount_exact, '.') = 0 THEN amount_exact || '000000' ELSE substr(amount_exact, 1, instr(amount_exact, '.') - 1) || substr(substr(amount_exact, instr(amount_exact, '.') + 1) || '000000', 1, 6) END AS INTEGER) ELSE amount_micro END, 0, type FROM warehouse_credits AS l
  WHERE EXISTS (SELECT 1 FROM resource_states AS s WHERE s.organization_id = l.organization_id AND s.resource = 'warehouse' AND s.first_complete_at IS NOT NULL)
  UNION ALL
  SELECT h.organization_id, 'warehouse', h.credit_id, h.inventory_id, 0, 0, 0, coalesce(h.amount_micro, 0), h.type FROM warehouse_credits_history AS h
  JOIN resource_states AS s ON s.organization_id = h.organization_id AND s.resource = 'warehouse' AND h.valid_from <= s.first_complete_at AND (h.valid_to IS NULL OR h.valid_to > s.first_complete_at)
  UNION ALL
  SELECT organization_id, 'inventory', credit_id, inventory_id, 0, 0, CASE WHEN amount_micro IS NOT NULL AND amount_exact GLOB '[0-9]*' AND amount_exact NOT GLOB '*[^0-9.]*' THEN CAST(CASE WHEN instr(amount_exact, '.') = 0 THEN amount_exact || '000000' ELSE substr(amount_exact, 1, instr(amount_exact, '.') - 1) || substr(substr(amount_exact, instr(amount_exact, '.') + 1) || '000000', 1, 6) END AS INTEGER) ELSE amount_micro END, 0, type FROM inventory_credits AS l
  WHERE EXISTS (SELECT 1 FROM resource_states AS s WHERE s.organization_id = l.organization_id AND s.resource = 'inventory' AND s.first_complete_at IS NOT NULL)
  UNION ALL
  SELECT h.organization_id, 'inventory', h.credit_id, h.inventory_id, 0, 0, 0, coalesce(h.amount_micro, 0), h.type FROM inventory_credits_history AS h
  JOIN resource_states AS s ON s.organization_id = h.organization_id AND s.resource = 'inventory' AND h.valid_from <= s.first_complete_at AND (h.valid_to IS NULL OR h.valid_to > s.first_complete_at)
  UNION ALL
  SELECT organization_id, 'held', credit_id, id, 0, 0, CASE WHEN coalesce(r.is_complete, 0) = 0 AND lower(coalesce(r.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN CASE WHEN amount_micro IS NOT NULL AND amount_exact GLOB '[0-9]*' AND amount_exact NOT GLOB '*[^0-9.]*' THEN CAST(CASE WHEN instr(amount_exact, '.') = 0 THEN amount_exact || '000000' ELSE substr(amount_exact, 1, instr(amount_exact, '.') - 1) || substr(substr(amount_exact, instr(amount_exact, '.') + 1) || '000000', 1, 6) END AS INTEGER) ELSE amount_micro END ELSE 0 END, 0, type FROM reservations AS r
  WHERE EXISTS (SELECT 1 FROM resource_states AS s WHERE s.organization_id = r.organization_id AND s.resource = 'reservations' AND s.first_complete_at IS NOT NULL)
  UNION ALL
  SELECT h.organization_id, 'held', h.credit_id, h.id, 0, 0, 0, coalesce(CASE WHEN coalesce(h.is_complete, 0) = 0 AND lower(coalesce(h.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired') THEN h.amount_micro ELSE 0 END, 0), h.type FROM reservations_history AS h
  JOIN resource_states AS s ON s.organization_id = h.organization_id AND s.resource = 'reservations' AND h.valid_from <= s.first_complete_at AND (h.valid_to IS NULL OR h.valid_to > s.first_complete_at)
),
added AS (
  SELECT organization_id, place, credit_id, part, count(*) FILTER (WHERE risen <> 0 OR fallen <> 0) AS moves,
    (coalesce(sum(risen / 1000000), 0) * 1000000 + coalesce(sum(risen % 1000000), 0)) AS risen, (coalesce(sum(fallen / 1000000), 0) * 1000000 + coalesce(sum(fallen % 1000000), 0)) AS fallen, (coalesce(sum(listed / 1000000), 0) * 1000000 + coalesce(sum(listed % 1000000), 0)) AS listed, (coalesce(sum(opening / 1000000), 0) * 1000000 + coalesce(sum(opening % 1000000), 0)) AS opening, max(type) AS type
  FROM sides GROUP BY organization_id, place, credit_id, part
)
SELECT a.organization_id, a.place, a.credit_id, a.part, a.moves, CASE WHEN abs(risen) < 9000000000000000000 THEN CAST(risen AS INTEGER) END, CASE WHEN abs(fallen) < 9000000000000000000 THEN CAST(fallen AS INTEGER) END, CASE WHEN abs(listed) < 9000000000000000000 THEN CAST(listed AS INTEGER) END, CASE WHEN opening + risen - fallen = listed THEN 1 ELSE 0 END, a.type, CASE WHEN abs(opening) < 9000000000000000000 THEN CAST(opening AS INTEGER) END, s.first_complete_at
FROM added AS a JOIN resource_states AS s ON s.organization_id = a.organization_id AND s.resource = CASE a.place WHEN 'held' THEN 'reservations' ELSE a.place END;

-- Per project and vintage, without what is exAnte: warehouse, inventory and held together, of all organizations whose three lists were ever read completely, fell by at least what these organizations have retired of it since by their own reservations and inventory requests. What else they retired may be of credits that an organization gave that is not mirrored: it is named, and nothing has to fall for it. What was not listed anywhere when the period began counts by what it was seen to fall by.
CREATE VIEW balance_projects (
  project_id, -- the project that issued the credits
  project_name, -- its name, as it was sent with them
  vintage, -- year of the reduction
  begun_at, -- end of the last of the first complete reads: what was before is not known
  settled_at, -- start of the oldest last complete read of those lists: what was retired after it is not counted yet
  opening_micro, -- millionths of a tonne that stood there at the start
  closing_micro, -- millionths of a tonne that stand there now
  fallen_micro, -- millionths of a tonne that its rows were seen to fall by
  fall_micro, -- millionths of a tonne that it fell by, moves from one place to another left out
  retirements, -- how many retirements
  retired_micro, -- millionths of a tonne that they add up to
  ties, -- 1 where what it fell and rose by is as much as is explained, or more, 0 where it is not; null where a list has not been read since the last rise
  risen_micro, -- millionths of a tonne that warehouses and inventories were seen to rise by: from elsewhere, or from one another
  explained_micro, -- millionths of a tonne of what was retired that reservations and inventory requests of these organizations explain
  unexplained_micro -- millionths of a tonne of what was retired that they do not explain, and that did not go from these lists in all: it came from elsewhere
) AS
WITH stock AS (
  SELECT organization_id, credit_id, project_id, project_name, vintage AS vintage, amount_micro, valid_from, valid_to, NULL AS held_to FROM warehouse_credits_history WHERE coalesce(type, '') <> 'exAnte'
  UNION ALL
  SELECT organization_id, credit_id, project_id, project_name, vintage AS vintage, amount_micro, valid_from, valid_to, NULL AS held_to FROM inventory_credits_history WHERE coalesce(type, '') <> 'exAnte'
  UNION ALL
  SELECT organization_id, credit_id, project_id, project_name, CASE WHEN serialization GLOB '*-[0-9][0-9][0-9][0-9]' THEN substr(serialization, -4) END AS vintage, amount_micro, valid_from, valid_to, reserved_to_at AS held_to FROM reservations_history AS r WHERE coalesce(type, '') <> 'exAnte' AND coalesce(r.is_complete, 0) = 0 AND lower(coalesce(r.state, 'outstanding')) NOT IN ('finished', 'cancelled', 'expired')
),
judged AS (
  SELECT organization_id, max(first_complete_at) AS since, min(complete_at) AS settled_at FROM resource_states
  WHERE resource IN ('warehouse', 'inventory', 'reservations') GROUP BY organization_id HAVING count(first_complete_at) = 3
),
places AS (
  SELECT s.project_id, s.vintage, max(s.project_name) AS project_name, max(j.since) AS since, min(j.settled_at) AS settled_at
  FROM (SELECT DISTINCT organization_id, project_id, project_name, vintage FROM stock) AS s JOIN judged AS j ON j.organization_id = s.organization_id
  WHERE s.project_id IS NOT NULL AND s.vintage IS NOT NULL GROUP BY s.project_id, s.vintage
),
credits AS (
  SELECT credit_id, min(valid_from) AS seen_at FROM stock GROUP BY credit_id
),
amounts AS (
  SELECT p.project_id, p.vintage,
    CASE WHEN s.valid_from <= p.since AND (s.valid_to IS NULL OR s.valid_to > p.since) AND (s.held_to IS NULL OR s.held_to > p.since) THEN s.amount_micro ELSE 0 END AS opening,
    CASE WHEN s.valid_to IS NULL AND (s.held_to IS NULL OR s.held_to > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) THEN s.amount_micro ELSE 0 END AS closing,
    CASE WHEN c.seen_at <= p.since AND s.valid_to IS NULL AND (s.held_to IS NULL OR s.held_to > strftime('%Y-%m-%dT%H:%M:%fZ', 'now')) THEN s.amount_micro ELSE 0 END AS closing_known,
    0 AS fallen, 0 AS fallen_new, 0 AS retired, 0 AS retirements, 0 AS risen, 0 AS used, NULL AS rose_at
  FROM stock AS s JOIN judged AS j ON j.organization_id = s.organization_id
  JOIN places AS p ON p.project_id = s.project_id AND p.vintage = s.vintage JOIN credits AS c ON c.credit_id = s.credit_id
  UNION ALL
  SELECT p.project_id, p.vintage, 0, 0, 0, max(0 - coalesce(m.moved_micro, 0), 0),
    CASE WHEN c.seen_at > p.since THEN max(0 - coalesce(m.moved_micro, 0), 0) ELSE 0 END, 0, 0,
    CASE WHEN c.seen_at <= p.since AND m.place <> 'held' THEN max(coalesce(m.moved_micro, 0), 0) ELSE 0 END, 0,
    CASE WHEN m.moved_micro > 0 THEN m.learnt_at END
  FROM credit_moves AS m JOIN judged AS j ON j.organization_id = m.organization_id
  JOIN places AS p ON p.project_id = m.project_id AND p.vintage = m.vintage AND m.learnt_at > p.since JOIN credits AS c ON c.credit_id = m.credit_id
  WHERE coalesce(m.type, '') <> 'exAnte'
  UNION ALL
  SELECT p.project_id, p.vintage, 0, 0, 0, 0, 0, coalesce(r.amount_micro, 0), 1, 0, 0, NULL
  FROM retirements AS r JOIN judged AS j ON j.organization_id = r.organization_id
  JOIN places AS p ON p.project_id = r.project_id AND p.vintage = r.vintage AND r.created_at > p.since AND r.created_at <= p.settled_at
  UNION ALL
  SELECT p.project_id, p.vintage, 0, 0, 0, 0, 0, 0, 0, 0, coalesce(u.amount_micro, 0), NULL
  FROM credit_uses AS u JOIN judged AS j ON j.organization_id = u.organization_id
  JOIN places AS p ON p.project_id = u.project_id AND p.vintage = u.vintage AND u.begun_at > p.since AND u.ended_at <= p.settled_at
),
added AS (
  SELECT project_id, vintage, (coalesce(sum(opening / 1000000), 0) * 1000000 + coalesce(sum(opening % 1000000), 0)) AS opening, (coalesce(sum(closing / 1000000), 0) * 1000000 + coalesce(sum(closing % 1000000), 0)) AS closing, (coalesce(sum(closing_known / 1000000), 0) * 1000000 + coalesce(sum(closing_known % 1000000), 0)) AS closing_known,
    (coalesce(sum(fallen / 1000000), 0) * 1000000 + coalesce(sum(fallen % 1000000), 0)) AS fallen, (coalesce(sum(fallen_new / 1000000), 0) * 1000000 + coalesce(sum(fallen_new % 1000000), 0)) AS fallen_new, (coalesce(sum(retired / 1000000), 0) * 1000000 + coalesce(sum(retired % 1000000), 0)) AS retired, (coalesce(sum(risen / 1000000), 0) * 1000000 + coalesce(sum(risen % 1000000), 0)) AS risen, (coalesce(sum(used / 1000000), 0) * 1000000 + coalesce(sum(used % 1000000), 0)) AS used, sum(retirements) AS retirements, max(rose_at) AS rose_at
  FROM amounts GROUP BY project_id, vintage
),
told AS (
  SELECT project_id, vintage, opening, closing, fallen, opening - closing_known + fallen_new AS fall, risen, retired, retirements,
    max(min(retired, used), 0) AS explained, rose_at
  FROM added
)
SELECT a.project_id, p.project_name, a.vintage, p.since, p.settled_at, CASE WHEN abs(a.opening) < 9000000000000000000 THEN CAST(a.opening AS INTEGER) END, CASE WHEN abs(a.closing) < 9000000000000000000 THEN CAST(a.closing AS INTEGER) END, CASE WHEN abs(a.fallen) < 9000000000000000000 THEN CAST(a.fallen AS INTEGER) END,
  CASE WHEN abs(a.fall) < 9000000000000000000 THEN CAST(a.fall AS INTEGER) END, a.retirements, CASE WHEN abs(a.retired) < 9000000000000000000 THEN CAST(a.retired AS INTEGER) END,
  CASE WHEN a.fall + a.risen >= a.explained OR a.explained <= 0 THEN 1 WHEN a.rose_at >= p.settled_at THEN NULL ELSE 0 END,
  CASE WHEN abs(a.risen) < 9000000000000000000 THEN CAST(a.risen AS INTEGER) END, CASE WHEN abs(a.explained) < 9000000000000000000 THEN CAST(a.explained AS INTEGER) END, CASE WHEN abs(max(a.retired - max(a.explained, a.fall), 0)) < 9000000000000000000 THEN CAST(max(a.retired - max(a.explained, a.fall), 0) AS INTEGER) END
FROM told AS a JOIN places AS p ON p.project_id = a.project_id AND p.vintage = a.vintage;

-- A serialization of issued credits stands for one credit, in whatever list and case. It names a token and no range: its length tells no amount.
CREATE VIEW balance_serials (
  serialization, -- what names the credit in public, in lower case
  credit_id, -- the credit that it stands for; the first of several
  other_credit_id, -- the last of several; the same where there is one
  rows, -- how many rows name it
  ties -- 1 where it stands for one credit, else 0
) AS
WITH named AS (
  SELECT lower(serialization) AS serialization, credit_id FROM warehouse_credits WHERE type = 'exPost' AND serialization IS NOT NULL
  UNION ALL
  SELECT lower(serialization), credit_id FROM inventory_credits WHERE type = 'exPost' AND serialization IS NOT NULL
  UNION ALL
  SELECT lower(serialization), credit_id FROM reservations WHERE type = 'exPost' AND serialization IS NOT NULL
)
SELECT serialization, min(credit_id), max(credit_id), count(*), CASE WHEN min(credit_id) = max(credit_id) THEN 1 ELSE 0 END
FROM named GROUP BY serialization;

-- What the registry changed or took back after the year was over that it is dated in, and each certificate that is another file than before, whenever that was. A change within the year is in the view changes alone.
CREATE VIEW restatements (
  number, -- number of the counter that the change took: the same as in changes
  learnt_at, -- when the answer that showed it had arrived; the registry may have changed earlier
  organization_id, -- whose retirement it is
  resource, -- retirements or certificates
  id, -- the retirement
  year, -- the year that the registry dated the retirement in before, in UTC; null where it sent no usable date
  change, -- changed or removed
  before, -- what stood there: of a retirement its amount in the registry's own digits, of a certificate the SHA-256 of the file
  after, -- what stands there since; null where it is gone
  sync_run_id -- the sync run that found it; old runs are removed in time
) AS
SELECT p.closed_version, p.valid_to, p.organization_id, 'retirements', p.id, substr(p.created_at, 1, 4),
  CASE WHEN (EXISTS (SELECT 1 FROM retirements AS n WHERE n.version = p.closed_version) OR EXISTS (SELECT 1 FROM retirements_past AS n WHERE n.version = p.closed_version)) THEN 'changed' ELSE 'removed' END,
  p.amount_exact, coalesce((SELECT n.amount_exact FROM retirements AS n WHERE n.version = p.closed_version), (SELECT n.amount_exact FROM retirements_past AS n WHERE n.version = p.closed_version)), p.closed_by
FROM retirements_past AS p
WHERE substr(p.created_at, 1, 4) < substr(p.valid_to, 1, 4)
UNION ALL
SELECT p.closed_version, p.valid_to, p.organization_id, 'certificates', p.retirement_id, substr(coalesce((SELECT r.created_at FROM retirements AS r WHERE r.organization_id = p.organization_id AND r.id = p.retirement_id), (SELECT max(r.created_at) FROM retirements_past AS r WHERE r.organization_id = p.organization_id AND r.id = p.retirement_id)), 1, 4),
  CASE WHEN (EXISTS (SELECT 1 FROM certificates AS n WHERE n.version = p.closed_version) OR EXISTS (SELECT 1 FROM certificates_past AS n WHERE n.version = p.closed_version)) THEN 'changed' ELSE 'removed' END,
  p.sha256, coalesce((SELECT n.sha256 FROM certificates AS n WHERE n.version = p.closed_version), (SELECT n.sha256 FROM certificates_past AS n WHERE n.version = p.closed_version)), p.closed_by
FROM certificates_past AS p
WHERE p.state = 'stored' AND coalesce((SELECT n.sha256 FROM certificates AS n WHERE n.version = p.closed_version), (SELECT n.sha256 FROM certificates_past AS n WHERE n.version = p.closed_version)) IS DISTINCT FROM p.sha256
  AND ((EXISTS (SELECT 1 FROM certificates AS n WHERE n.version = p.closed_version) OR EXISTS (SELECT 1 FROM certificates_past AS n WHERE n.version = p.closed_version)) OR substr(coalesce((SELECT r.created_at FROM retirements AS r WHERE r.organization_id = p.organization_id AND r.id = p.retirement_id), (SELECT max(r.created_at) FROM retirements_past AS r WHERE r.organization_id = p.organization_id AND r.id = p.retirement_id)), 1, 4) < substr(p.valid_to, 1, 4));

-- How many rows each balance, the restatements and the findings have at this moment, the balances those that do not tie. Every row of the lists is looked at.
CREATE VIEW findings (
  finding, -- name of the balance, restatements, or what is found in credit_findings
  rows -- how many
) AS
WITH found AS (
  SELECT finding, count(*) AS rows FROM credit_findings GROUP BY finding
),
kinds (finding) AS (
  VALUES ('negative_amount'), ('serialization_twice'), ('listed_and_retired'), ('hold_outlived')
)
SELECT 'balance_retirements', (SELECT count(*) FROM balance_retirements WHERE ties = 0)
UNION ALL
SELECT 'balance_credits', (SELECT count(*) FROM balance_credits WHERE ties = 0)
UNION ALL
SELECT 'balance_projects', (SELECT count(*) FROM balance_projects WHERE ties = 0)
UNION ALL
SELECT 'balance_serials', (SELECT count(*) FROM balance_serials WHERE ties = 0)
UNION ALL
SELECT 'restatements', (SELECT count(*) FROM restatements)
UNION ALL
SELECT k.finding, coalesce(f.rows, 0)
FROM kinds AS k LEFT JOIN found AS f ON f.finding = k.finding;

-- The same as a worker counted it last, so that nobody has to look at a million rows.
CREATE TABLE finding_counts (
  finding TEXT PRIMARY KEY, -- as in the view findings
  rows INTEGER NOT NULL, -- how many
  counted_at TEXT NOT NULL -- when that was
) STRICT, WITHOUT ROWID;

-- What reservations and inventory requests of an organization have taken out of its lists for good: reservations that were finished, and requests to retire that were carried out. They explain retirements; what nobody reserved or requested here does not stand here.
CREATE VIEW credit_uses (
  organization_id, -- the organization whose list it stands in
  resource, -- reservations or inventory_requests
  id, -- the registry's id of it
  serialization, -- what names the credit in public
  project_id, -- the project that issued the credit
  vintage, -- year of the reduction; of a reservation the year that ends its serialization
  amount_micro, -- millionths of a tonne; null where the amount is finer or larger than that holds
  begun_at, -- when the registry says it was created
  ended_at -- when the registry says it last changed; where it says nothing, when the hold would have ended
) AS
SELECT organization_id, 'reservations', id, serialization, project_id, CASE WHEN serialization GLOB '*-[0-9][0-9][0-9][0-9]' THEN substr(serialization, -4) END, amount_micro, created_at, coalesce(updated_at, reserved_to_at)
FROM reservations WHERE is_complete = 1 OR lower(state) = 'finished'
UNION ALL
SELECT organization_id, 'inventory_requests', id, serialization, project_id, vintage, amount_micro, created_at, updated_at
FROM inventory_requests
WHERE tx_id IS NOT NULL AND lower(action) IN ('retire', 'transfer_retire') AND coalesce(from_organization_id, organization_id) = organization_id;

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
