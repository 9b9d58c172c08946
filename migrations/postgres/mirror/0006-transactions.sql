CREATE TABLE mirror.transactions (
  digest text COLLATE "C" PRIMARY KEY,
  delivery_id bigint NOT NULL,
  received_at timestamptz(3) NOT NULL,
  installation_id text COLLATE "C" NOT NULL,
  organization_id text COLLATE "C" NOT NULL,
  event text COLLATE "C" NOT NULL,
  id text COLLATE "C",
  type text COLLATE "C",
  status text COLLATE "C",
  credit_id text COLLATE "C",
  amount double precision,
  amount_micro bigint,
  amount_exact text COLLATE "C",
  fault text COLLATE "C"
);
COMMENT ON TABLE mirror.transactions IS 'What webhooks said of transactions: a hint. Nobody has asked the registry, and nothing is made of it. A row for each signed text, however often it came; kept as long as history.';
COMMENT ON COLUMN mirror.transactions.digest IS 'SHA-256 of the signed text in hex; a repeat has the same and makes no second row';
COMMENT ON COLUMN mirror.transactions.delivery_id IS 'the first delivery that brought it; old deliveries are removed in time';
COMMENT ON COLUMN mirror.transactions.received_at IS 'when that came';
COMMENT ON COLUMN mirror.transactions.installation_id IS 'the installation that it was sent to';
COMMENT ON COLUMN mirror.transactions.organization_id IS 'the organization of that installation, as the registry says';
COMMENT ON COLUMN mirror.transactions.event IS 'the event''s name as signed';
COMMENT ON COLUMN mirror.transactions.id IS 'id of the transaction, as the webhook says; null where it says none that is usable';
COMMENT ON COLUMN mirror.transactions.type IS 'transfer, transfer_retire or retire, as the webhook says';
COMMENT ON COLUMN mirror.transactions.status IS 'processed, failed or pending_queue, as the webhook says; a later one may say otherwise';
COMMENT ON COLUMN mirror.transactions.credit_id IS 'the credit, as the webhook says';
COMMENT ON COLUMN mirror.transactions.amount IS 'tonnes, to look at, as the webhook says';
COMMENT ON COLUMN mirror.transactions.amount_micro IS 'millionths of a tonne, exact; null where the amount is finer or larger than that';
COMMENT ON COLUMN mirror.transactions.amount_exact IS 'tonnes, the webhook''s own digits';
COMMENT ON COLUMN mirror.transactions.fault IS 'what is wrong with what it says; null where nothing is';
CREATE INDEX transactions_by_installation ON mirror.transactions (installation_id, delivery_id);
CREATE INDEX transactions_by_organization ON mirror.transactions (organization_id, received_at);
