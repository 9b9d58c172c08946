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
