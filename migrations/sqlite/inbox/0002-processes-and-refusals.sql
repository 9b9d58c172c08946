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

-- A parked job tries again by itself at its run_at.
DROP INDEX jobs_parked;
CREATE INDEX jobs_parked ON jobs (run_at) WHERE state = 'parked';

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

-- WAS Every POST whose signature was good, one row each, in the order of arrival. A row is written before the sender is answered. Repeats are rows of their own.
-- NOW Every POST whose signature was good, in the order of arrival: a row each, but repeats of one text that wait for the same read, or are set aside, share one for a minute. A row is written before the sender is answered.
ALTER TABLE deliveries ADD COLUMN repeats INTEGER NOT NULL DEFAULT 0; -- how many more posts of the same text are counted in this row
ALTER TABLE deliveries ADD COLUMN last_received_at TEXT; -- when the latest of them came; null where none did
ALTER TABLE deliveries ADD COLUMN unread_at TEXT; -- the first of them that came after a read of its installation had begun, which did not answer it; null where there is none
CREATE INDEX deliveries_unread ON deliveries (unread_at) WHERE unread_at IS NOT NULL;
ALTER TABLE jobs ADD COLUMN repeats_only INTEGER NOT NULL DEFAULT 0 CHECK (repeats_only IN (0, 1)); -- 1 where nothing but deliveries that had come before asked for it: such reads slow down while they find nothing new
