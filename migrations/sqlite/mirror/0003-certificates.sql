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
  valid_from TEXT NOT NULL, -- start of the read that found this file; for a row without a file, when it was entered
  sync_run_id INTEGER, -- the sync run that fetched the file; null before
  UNIQUE (organization_id, retirement_id),
  CHECK ((state = 'stored') = (file IS NOT NULL AND sha256 IS NOT NULL AND size IS NOT NULL AND fetched_at IS NOT NULL))
) STRICT;
CREATE INDEX certificates_by_due_at ON certificates (organization_id, due_at);
CREATE INDEX certificates_not_stored ON certificates (organization_id, state) WHERE state <> 'stored';
CREATE INDEX certificates_by_file ON certificates (file) WHERE file IS NOT NULL;

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
  valid_from TEXT NOT NULL, -- start of the read that found this file; for a row without a file, when it was entered
  valid_to TEXT NOT NULL, -- start of the read that no longer found it so; it was true before, not at, this instant
  sync_run_id INTEGER, -- the sync run that fetched the file; null before
  closed_by INTEGER -- the sync run that closed it
) STRICT;
CREATE INDEX certificates_past_by_key ON certificates_past (organization_id, retirement_id);
CREATE INDEX certificates_past_by_file ON certificates_past (file) WHERE file IS NOT NULL;

-- How many certificates are in which state. Kept by triggers, so that nobody has to count a million rows.
CREATE TABLE certificate_sums (
  organization_id TEXT NOT NULL, -- whose certificates
  state TEXT NOT NULL, -- pending, unavailable or stored
  certificates INTEGER NOT NULL, -- how many
  PRIMARY KEY (organization_id, state)
) STRICT, WITHOUT ROWID;
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

-- How far certificates have been entered for new and changed retirements. One row.
CREATE TABLE certificate_mark (
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1), -- always 1
  retirement_version INTEGER NOT NULL -- every retirement up to this version has a row in certificates
) STRICT;
INSERT INTO certificate_mark VALUES (1, 0);
