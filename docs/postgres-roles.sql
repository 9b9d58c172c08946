-- Creates the roles of the mirror. Run it with psql as a superuser in the mirror's empty database; compose.yaml does so.
-- "carbon_mirror" owns the tables. "questions" may only read them, and runs SQL that people write.
\set owner_password `cat /run/secrets/owner_password`
\set reader_password `cat /run/secrets/reader_password`

CREATE ROLE carbon_mirror LOGIN PASSWORD :'owner_password';
CREATE SCHEMA inbox AUTHORIZATION carbon_mirror;
CREATE SCHEMA mirror AUTHORIZATION carbon_mirror;
CREATE SCHEMA evidence AUTHORIZATION carbon_mirror;
CREATE SCHEMA events AUTHORIZATION carbon_mirror;

CREATE ROLE questions LOGIN PASSWORD :'reader_password';
ALTER ROLE questions SET temp_file_limit = '1GB';
GRANT USAGE ON SCHEMA inbox, mirror TO questions;
-- The first start of carbon-mirror creates the tables.
ALTER DEFAULT PRIVILEGES FOR ROLE carbon_mirror IN SCHEMA inbox, mirror GRANT SELECT ON TABLES TO questions;

-- Otherwise every role could write to the server's write-ahead log with this function.
DO $$
DECLARE
  emitting regprocedure;
BEGIN
  FOR emitting IN SELECT oid FROM pg_proc WHERE proname = 'pg_logical_emit_message' LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', emitting);
  END LOOP;
END $$;
