-- The one registry that this mirror was filled from. It refuses any other. One row.
CREATE TABLE origin (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1), -- always 1
  base_url TEXT NOT NULL, -- address of the registry
  app_id TEXT NOT NULL, -- the app that reads it
  schedule_seconds INTEGER NOT NULL DEFAULT 900, -- time between two scheduled reads; twice as old is late
  created_at TEXT NOT NULL -- when the mirror was first filled
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
  error TEXT -- what went wrong, in words
) STRICT;
CREATE INDEX sync_runs_by_resource ON sync_runs (organization_id, resource, id);
CREATE INDEX sync_runs_by_finished_at ON sync_runs (finished_at);
CREATE INDEX sync_runs_running ON sync_runs (id) WHERE state = 'running';
CREATE INDEX sync_runs_with_drift ON sync_runs (id) WHERE drift > 0;

-- What is known of each resource of each organization. People read the view "freshness" instead.
CREATE TABLE resource_states (
  organization_id TEXT NOT NULL, -- whose resource
  resource TEXT NOT NULL, -- what is read
  rows INTEGER NOT NULL DEFAULT 0, -- rows that are there now
  first_complete_at TEXT, -- start of the first complete read; what was before it is not known
  complete_at TEXT, -- start of the last complete read; null before the first
  attempted_at TEXT, -- start of the latest read, however it ended
  outcome TEXT CHECK (outcome IN ('complete', 'partial', 'doubtful', 'failed')), -- how the latest read ended
  error_code TEXT, -- code of what went wrong with it
  error TEXT, -- what went wrong with it, in words
  forbidden_at TEXT, -- since when the permission is missing; null where it is there
  open_run INTEGER, -- the sync run that has written and not ended; null between runs
  doubted_at TEXT, -- start of the complete read that lacked most rows; null where none waits for a second one
  doubted BLOB, -- the versions that it lacked, a packed set
  drift INTEGER NOT NULL DEFAULT 0, -- changes so far that no delivery had announced
  drift_at TEXT, -- start of the read that found the latest of them
  duration_ms INTEGER, -- how long the last complete read took
  stamp_at TEXT, -- the latest instant given to a row of it; the next one is later, whatever the clock says
  read_claim INTEGER, -- claim of the newest read that has written
  read_at TEXT, -- start of that read
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

-- Sums over retirements, kept with every write so that nobody has to add up a million rows.
CREATE TABLE retirement_sums (
  organization_id TEXT NOT NULL, -- whose retirements
  kind TEXT NOT NULL CHECK (kind IN ('beneficiary', 'month')), -- what they are grouped by
  value TEXT NOT NULL, -- the beneficiary or the month; '' where there is none
  rows INTEGER NOT NULL, -- how many retirements
  rows_not_summed INTEGER NOT NULL, -- how many of them have no amount_micro
  tonnes INTEGER NOT NULL, -- whole tonnes of the others
  micro INTEGER NOT NULL, -- and their millionths beyond, not carried over
  PRIMARY KEY (organization_id, kind, value)
) STRICT, WITHOUT ROWID;
