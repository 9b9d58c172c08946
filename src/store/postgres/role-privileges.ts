import { sql } from 'kysely';
import { select, sqlStatement } from '../sql/columns.js';
import { prepared, type ResultRow } from '../sql/prepared.js';

/**
 * Reads which privileges of the connected role reach beyond the tables of this database: attributes and memberships of the role
 * and of every role that it may become with SET ROLE, which a query can do with set_config(). With them a query could read files
 * and password hashes of the server, run programs there or keep its WAL for ever.
 */
export const READ_ROLE_PRIVILEGES = prepared(
  () =>
    sqlStatement`SELECT ${select({
      role: sql<string>`quote_ident(rolname)`,
      privileges: sql<string | null>`CASE WHEN rolsuper THEN 'SUPERUSER' ELSE (
    SELECT string_agg(DISTINCT power, ', ' ORDER BY power) FROM pg_catalog.pg_roles AS r,
      LATERAL (VALUES ('SUPERUSER', r.rolsuper), ('REPLICATION', r.rolreplication), ('BYPASSRLS', r.rolbypassrls),
        (r.rolname::text, r.rolname IN
          ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program', 'pg_read_all_data'))
      ) AS p (power, has)
    WHERE has AND pg_has_role(session_user, r.oid, 'MEMBER')) END`,
    })} FROM pg_catalog.pg_roles WHERE rolname = session_user`,
);

/** The quoted name of a role, and its privileges beyond reading; null if it has none. */
type RolePrivileges = ResultRow<typeof READ_ROLE_PRIVILEGES>;

/** Returns the message that refuses a role because of its privileges. */
export function describePrivileges({ role, privileges }: RolePrivileges): string {
  return `the role ${role} may do more than read this database: ${privileges}`;
}
