-- They are counted on every page of the console, and are few beside what was accepted.
CREATE INDEX deliveries_set_aside ON inbox.deliveries (id) WHERE verdict = 'set_aside';
