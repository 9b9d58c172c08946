-- The settings beside these functions make every plan dear: a server with jit would compile each, for most of a second.
ALTER FUNCTION inbox.enqueue(jsonb) SET jit = off;
ALTER FUNCTION inbox.store(jsonb) SET jit = off;
ALTER FUNCTION inbox.store_new(jsonb, json) SET jit = off;
ALTER FUNCTION inbox.claim(jsonb) SET jit = off;
ALTER FUNCTION inbox.renew(jsonb) SET jit = off;
ALTER FUNCTION inbox.settle(jsonb) SET jit = off;
