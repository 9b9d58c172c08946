ALTER TABLE resource_states ADD COLUMN owner_told INTEGER NOT NULL DEFAULT 0 CHECK (owner_told IN (0, 1)); -- 1 where its answers say whose they are: one that does not say it closes no row
