-- Roles for PostgreSQL, by psql as a superuser, in the empty database of the mirror. compose.yaml runs it when its database is made.
-- "carbon_mirror" owns the tables. "questions" may only read them: SQL that people write is asked as this role.
\set owner_password `cat /run/secrets/owner_password`
\set reader_password `cat /run/secrets/reader_password`

CREATE ROLE carbon_mirror LOGIN PASSWORD :'owner_password';
CREATE SCHEMA inbox AUTHORIZATION carbon_mirror;
CREATE SCHEMA mirror AUTHORIZATION carbon_mirror;
CREATE SCHEMA evidence AUTHORIZATION carbon_mirror;

CREATE ROLE questions LOGIN PASSWORD :'reader_password';
ALTER ROLE questions SET temp_file_limit = '1GB';
GRANT USAGE ON SCHEMA inbox, mirror TO questions;
-- The tables are made later, by the first start.
ALTER DEFAULT PRIVILEGES FOR ROLE carbon_mirror IN SCHEMA inbox, mirror GRANT SELECT ON TABLES TO questions;

-- Anybody else could write into the log of the server by it.
DO $$
DECLARE
  emitting regprocedure;
BEGIN
  FOR emitting IN SELECT oid FROM pg_proc WHERE proname = 'pg_logical_emit_message' LOOP
    EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', emitting);
  END LOOP;
END $$;
