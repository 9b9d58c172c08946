import { sql } from 'kysely';
import { fail, type Finding, ok, warn } from '../contract/finding.js';
import { SAFE_ROLE_ADVICE } from '../contract/sql-query.js';
import { select, sqlStatement } from '../sql/columns.js';
import { type Params, prepared, type ResultRow } from '../sql/prepared.js';
import { createAutocommitBatch } from './database.js';
import type { PoolOptions } from './driver.js';
import type { Postgres } from './open-postgres.js';
import { withConnections } from './await-schema.js';

const SESSION = {
  role: sql<string>`current_user`,
  /** Identifies the database among all servers. */
  database: sql<string>`(SELECT system_identifier FROM pg_catalog.pg_control_system()) || '/' ||
    (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database())`,
};
const READ_SESSION = prepared(() => sqlStatement`SELECT ${select(SESSION)}`);
const READ_QUERY_ROLE = prepared(
  (_, { writer }: Params<{ readonly writer: string }>) => sqlStatement`WITH ours AS (
      SELECT oid, has_schema_privilege(relnamespace, 'USAGE') AND has_table_privilege(oid, 'SELECT') AS readable
      FROM pg_catalog.pg_class
      WHERE relkind IN ('r', 'v') AND relnamespace::regnamespace::text IN ('inbox', 'mirror')
    )
    SELECT ${select({
      ...SESSION,
      quotedName: sql<string>`quote_ident(current_user)`,
      /** Whether the role may write our tables, or is a member of the writer's role or of a role that may end sessions. */
      mayWrite: sql<boolean>`EXISTS (SELECT FROM ours WHERE has_table_privilege(oid, 'INSERT, UPDATE, DELETE, TRUNCATE'))
        OR EXISTS (SELECT FROM pg_catalog.pg_roles
          WHERE rolname IN (${writer}, 'pg_signal_backend') AND pg_has_role(oid, 'MEMBER'))`,
      unreadable: sql<number>`(SELECT count(*)::integer FROM ours WHERE NOT readable)`,
      hasNoTempFileLimit: sql<boolean>`current_setting('temp_file_limit') = '-1'`,
      /** The functions with which the role could write to the server's WAL; null if there are none. */
      logFunctions: sql<
        string | null
      >`(SELECT string_agg(oid::regprocedure::text, ', ') FROM pg_catalog.pg_proc
        WHERE proname = 'pg_logical_emit_message' AND has_function_privilege(oid, 'EXECUTE'))`,
    })}`,
);
type QueryRole = ResultRow<typeof READ_QUERY_ROLE>;

const NO_QUERY_ROLE = warn(
  'questions',
  'people ask in SQL as the role that writes: a question may end the sessions of the program, and fill the disk',
  'Make a role that may only read, and name it in QUERY_DATABASE_URL (docs/deploy.md).',
);
const OTHER_DATABASE = fail(
  'questions',
  'QUERY_DATABASE_URL names another database than MIRROR_DATABASE_URL',
  'Name the same one, or a standby of it.',
);
const SAME_ROLE = warn(
  'questions',
  'QUERY_DATABASE_URL names the same role as MIRROR_DATABASE_URL',
  'Name one that may only read (docs/deploy.md).',
);
const GRANTS = 'Grant it what "carbon-mirror schema --grants read ROLE" prints, and no more.';
const AS_SUPERUSER = 'As a superuser, in this database:';

/**
 * Checks that the database role for people's SQL queries can only read. If `queryPool` is null, queries run as the role that
 * writes, and that role is checked.
 */
export async function examineQueryRole(
  writerPool: PoolOptions,
  queryPool: PoolOptions | null,
): Promise<Finding[]> {
  if (queryPool === null) {
    const unsafe = await withConnections(writerPool, findExcessPrivileges);
    return [...unsafe, ...(unsafe.length > 0 ? [] : [NO_QUERY_ROLE])];
  }
  const [[writer]] = await withConnections(writerPool, ({ query }) =>
    createAutocommitBatch(query)(READ_SESSION()),
  );
  try {
    const writerRole = writer?.role ?? '';
    const [[queryRole]] = await withConnections(queryPool, ({ query }) =>
      createAutocommitBatch(query)(READ_QUERY_ROLE({ writer: writerRole })),
    );
    if (queryRole?.database !== writer?.database) return [OTHER_DATABASE];
    const unsafe = await withConnections(queryPool, findExcessPrivileges);
    const found = [
      ...unsafe,
      ...(queryRole === undefined ? [] : checkQueryRole(queryRole, writerRole, unsafe.length > 0)),
    ];
    return found.length > 0 ? found : [ok('questions', 'people ask in SQL as a role that may only read')];
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return [fail('questions', found, 'See who is named in QUERY_DATABASE_URL, and what they may do.')];
  }
}

/**
 * Returns a failure if the attributes or memberships of the connected role allow more than reading tables. The command `query`
 * refuses to run as such a role.
 */
async function findExcessPrivileges({ query }: Postgres): Promise<Finding[]> {
  const [[role]] = await createAutocommitBatch(query)(READ_ROLE_PRIVILEGES());
  return role === undefined || role.privileges === null
    ? []
    : [fail('questions', `${describePrivileges(role)}; "query" and Ask refuse it`, SAFE_ROLE_ADVICE)];
}

/**
 * Returns the findings about the database role for people's SQL queries. `isUnsafe` is true if a failure about the attributes of the role
 * is already reported; the finding that the role may write is then left out.
 */
function checkQueryRole(
  { role, quotedName: name, mayWrite, unreadable, hasNoTempFileLimit, logFunctions }: QueryRole,
  writerRole: string,
  isUnsafe: boolean,
): Finding[] {
  const found: Finding[] = [];
  if (role === writerRole) found.push(SAME_ROLE);
  else if (mayWrite && !isUnsafe)
    found.push(warn('questions', `the role ${name} for questions may do more than read`, GRANTS));
  if (unreadable > 0) {
    found.push(
      fail('questions', `the role ${name} for questions may not read ${unreadable} tables or views`, GRANTS),
    );
  }
  if (hasNoTempFileLimit) {
    const todo = `${AS_SUPERUSER} ALTER ROLE ${name} SET temp_file_limit = '1GB';`;
    found.push(
      warn('questions', 'a question may fill the disk with temporary files: there is no bound', todo),
    );
  }
  if (logFunctions !== null) {
    const todo = `${AS_SUPERUSER} REVOKE EXECUTE ON FUNCTION ${logFunctions} FROM PUBLIC;`;
    found.push(
      warn('questions', 'a question may write to the log of the server by pg_logical_emit_message', todo),
    );
  }
  return found;
}

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
