import { sql } from 'kysely';
import { select, sqlStatement } from '../sql/columns.js';
import { prepared, type ResultRow } from '../sql/prepared.js';

/**
 * Names what reaches beyond the tables of this database: attributes and memberships of the role that connected, and of every
 * role that it may become by SET ROLE, which a question can do by set_config(). By them a question could read files and
 * password hashes of the server, run programs there or keep its log of writes for ever.
 */
export const READ_ROLE_POWERS = prepared(
  () =>
    sqlStatement`SELECT ${select({
      role: sql<string>`quote_ident(rolname)`,
      powers: sql<string | null>`CASE WHEN rolsuper THEN 'SUPERUSER' ELSE (
    SELECT string_agg(DISTINCT power, ', ' ORDER BY power) FROM pg_catalog.pg_roles AS r,
      LATERAL (VALUES ('SUPERUSER', r.rolsuper), ('REPLICATION', r.rolreplication), ('BYPASSRLS', r.rolbypassrls),
        (r.rolname::text, r.rolname IN
          ('pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program', 'pg_read_all_data'))
      ) AS p (power, has)
    WHERE has AND pg_has_role(session_user, r.oid, 'MEMBER')) END`,
    })} FROM pg_catalog.pg_roles WHERE rolname = session_user`,
);

/** The quoted name of the role, and its powers; null if it has none. */
type RolePowers = ResultRow<typeof READ_ROLE_POWERS>;

export function describePowers({ role, powers }: RolePowers): string {
  return `the role ${role} may do more than read this database: ${powers}`;
}
