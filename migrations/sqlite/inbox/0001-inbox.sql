-- Every POST whose signature was good, in the order of arrival: a row each, but repeats of one text that wait for the same read, or are set aside, share one for a minute. A row is written before the sender is answered.
CREATE TABLE deliveries (
  id INTEGER PRIMARY KEY, -- rises in the order of arrival
  received_at TEXT NOT NULL, -- when the whole body had been read
  event TEXT, -- the event's name as signed; null where none was readable
  installation_id TEXT, -- the installation it speaks of; null where no usable id was signed
  digest TEXT NOT NULL, -- SHA-256 of the signed text in hex; equal for repeats
  text_id INTEGER NOT NULL, -- the signed text itself, in signed_texts
  outer_mismatch TEXT, -- names of the unsigned fields that contradicted the signed ones; null where none did
  verdict TEXT NOT NULL CHECK (verdict IN ('accepted', 'set_aside')), -- accepted leads to a read of the registry, set_aside does not
  reason TEXT CHECK ((reason IS NULL) = (verdict = 'accepted')), -- why it was set aside; null where it was accepted
  secret_index INTEGER NOT NULL, -- which of the configured webhook secrets had signed it; 0 is the newest
  job_id INTEGER CHECK (job_id IS NULL OR verdict = 'accepted'), -- the job that was sure to start after it arrived; null where it was set aside
  repeats INTEGER NOT NULL DEFAULT 0, -- how many more posts of the same text are counted in this row
  last_received_at TEXT, -- when the latest of them came; null where none did
  unread_at TEXT -- the first of them that came after a read of its installation had begun, which did not answer it; null where there is none
) STRICT;
CREATE INDEX deliveries_by_received_at ON deliveries (received_at);
CREATE INDEX deliveries_unread ON deliveries (unread_at) WHERE unread_at IS NOT NULL;

-- The raw signed texts, the proof of what the registry said. Repeats share one row: only a repeat that comes
-- after some thousands of others gets a row of its own. There is no index on the digest, because hashes fall all
-- over an index, and to write a page of it for each delivery would cost more than everything else together.
CREATE TABLE signed_texts (
  id INTEGER PRIMARY KEY, -- deliveries.text_id points here
  digest TEXT NOT NULL, -- SHA-256 of signed_data in hex
  last_received_at TEXT NOT NULL, -- when it came last; it is kept for as long as its last delivery
  signed_data TEXT NOT NULL -- the text as it was sent and signed (base64)
) STRICT;

-- What is to do, what is being done and what became of it.
CREATE TABLE jobs (
  id INTEGER PRIMARY KEY, -- rises in the order of creation
  kind TEXT NOT NULL, -- what is to do: installation (look at one installation again) or a word of the schedule
  organization_id TEXT, -- whose data it reads; null until that is known
  installation_id TEXT, -- through which installation it reads; null for work that belongs to none
  lane TEXT NOT NULL DEFAULT 'data' CHECK (lane IN ('data', 'certificates')), -- one organization is in at most one live claim per lane
  dedupe_key TEXT NOT NULL, -- at most one job with this key waits; later ones are merged with it
  trigger TEXT NOT NULL, -- what asked for it: delivery, schedule, worker or a person
  payload TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(payload)), -- details for the worker, a JSON object
  state TEXT NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'claimed', 'parked', 'buried', 'done')), -- ready waits for run_at, parked waits until something changes, buried waits for a person
  attempts INTEGER NOT NULL DEFAULT 0, -- how often it was claimed; counted at the claim, so that a crash counts too
  run_at TEXT NOT NULL, -- not to be started before this instant
  claimed_until TEXT CHECK ((claimed_until IS NOT NULL) = (state = 'claimed')), -- when the claim's lease runs out; null unless claimed
  claim INTEGER, -- the number of its latest claim; every write to the mirror carries it
  started_at TEXT, -- when it was claimed last
  finished_at TEXT CHECK ((finished_at IS NOT NULL) = (state IN ('done', 'buried'))), -- when it was done or buried
  created_at TEXT NOT NULL, -- when it was first asked for
  last_error_code TEXT, -- code of the latest failure, or why it was parked
  last_error TEXT, -- the latest failure in words
  outcome TEXT, -- how a done job ended: a word of the worker, or merged
  merged_into INTEGER, -- the waiting job that took over from a merged one
  repeats_only INTEGER NOT NULL DEFAULT 0 CHECK (repeats_only IN (0, 1)) -- 1 where nothing but deliveries that had come before asked for it: such reads slow down while they find nothing new
) STRICT;
CREATE UNIQUE INDEX jobs_waiting ON jobs (dedupe_key) WHERE state IN ('ready', 'parked');
CREATE INDEX jobs_ready ON jobs (run_at) WHERE state = 'ready';
CREATE INDEX jobs_claimed ON jobs (claimed_until) WHERE state = 'claimed';
CREATE INDEX jobs_parked ON jobs (run_at) WHERE state = 'parked';
CREATE INDEX jobs_buried ON jobs (finished_at) WHERE state = 'buried';
CREATE INDEX jobs_done ON jobs (finished_at) WHERE state = 'done';
CREATE INDEX jobs_by_key ON jobs (dedupe_key, started_at);
CREATE INDEX jobs_by_installation ON jobs (installation_id, lane, started_at);
-- What failed while the registry did not answer is due since it was first asked for, once the registry answers again: it comes first.
CREATE INDEX jobs_tried_first ON jobs (run_at) WHERE state = 'ready' AND attempts > 0 AND run_at <= created_at;

-- The counter of claims, one row. It rises over all jobs, and so for each organization too.
CREATE TABLE claims (
  id INTEGER PRIMARY KEY CHECK (id = 1), -- always 1
  last INTEGER NOT NULL -- the highest claim number given out
) STRICT;
INSERT INTO claims (id, last) VALUES (1, 0);

-- Signs of life. A row each for a process that has worked on this inbox. Those of an hour ago are removed, but for the
-- last of each role.
CREATE TABLE processes (
  id INTEGER PRIMARY KEY, -- rises in the order of starting
  role TEXT NOT NULL CHECK (role IN ('receive', 'work')), -- what it does: receive takes webhooks, work reads the registry
  host TEXT NOT NULL, -- name of the machine it runs on
  pid INTEGER NOT NULL, -- its process id there
  started_at TEXT NOT NULL, -- when it was ready
  seen_at TEXT NOT NULL -- its latest sign of life; one comes every 15 seconds
) STRICT;

-- POSTs that were turned away, counted by minute and reason. No body and no signature is kept.
CREATE TABLE refusals (
  minute TEXT NOT NULL, -- YYYY-MM-DDTHH:MM, in UTC
  reason TEXT NOT NULL, -- why, one of a closed list of words
  status INTEGER NOT NULL, -- what was answered
  header_prefix TEXT NOT NULL, -- prefix of the signature header that came; 'other' where it is unusual, '' where none came
  posts INTEGER NOT NULL, -- how many
  newest_at TEXT NOT NULL, -- when the latest of them came
  PRIMARY KEY (minute, reason, status, header_prefix)
) STRICT, WITHOUT ROWID;
