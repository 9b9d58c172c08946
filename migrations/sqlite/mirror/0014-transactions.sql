-- What webhooks said of transactions: a hint. Nobody has asked the registry, and nothing is made of it. A row for each signed text, however often it came; kept as long as history.
CREATE TABLE transactions (
  digest TEXT PRIMARY KEY, -- SHA-256 of the signed text in hex; a repeat has the same and makes no second row
  delivery_id INTEGER NOT NULL, -- the first delivery that brought it; old deliveries are removed in time
  received_at TEXT NOT NULL, -- when that came
  installation_id TEXT NOT NULL, -- the installation that it was sent to
  organization_id TEXT NOT NULL, -- the organization of that installation, as the registry says
  event TEXT NOT NULL, -- the event's name as signed
  id TEXT, -- id of the transaction, as the webhook says; null where it says none that is usable
  type TEXT, -- transfer, transfer_retire or retire, as the webhook says
  status TEXT, -- processed, failed or pending_queue, as the webhook says; a later one may say otherwise
  credit_id TEXT, -- the credit, as the webhook says
  amount REAL, -- tonnes, to look at, as the webhook says
  amount_micro INTEGER, -- millionths of a tonne, exact; null where the amount is finer or larger than that
  amount_exact TEXT, -- tonnes, the webhook's own digits
  fault TEXT -- what is wrong with what it says; null where nothing is
) STRICT;
CREATE INDEX transactions_by_installation ON transactions (installation_id, delivery_id);
CREATE INDEX transactions_by_organization ON transactions (organization_id, received_at);
