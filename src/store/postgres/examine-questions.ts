import { fail, type Finding, ok, warn } from '../contract/finding.js';
import { SAFE_ROLE } from '../contract/asked.js';
import type { PoolOptions } from './driver.js';
import type { Postgres } from './open.js';
import { during } from './prepare.js';
import { describePowers, ROLE_POWERS, type RolePowers } from './role-powers.js';

interface Who {
  readonly role: string;
  /** As it is known among all that there are. */
  readonly database: string;
}

interface Asker extends Who {
  /** Quoted. */
  readonly name: string;
  /** Its tables and views, or the role that writes them, or the sessions of others. */
  readonly touches: boolean;
  readonly unreadable: number;
  readonly unbounded: boolean;
  /** What writes into the server's log and may be called, as a statement names it; null where there is none. */
  readonly emits: string | null;
}

const WHO = `SELECT current_user AS role, (SELECT system_identifier FROM pg_catalog.pg_control_system()) || '/' ||
  (SELECT oid FROM pg_catalog.pg_database WHERE datname = current_database()) AS database`;
const ASKER = `
  WITH ours AS (
    SELECT oid, has_schema_privilege(relnamespace, 'USAGE') AND has_table_privilege(oid, 'SELECT') AS readable
    FROM pg_catalog.pg_class
    WHERE relkind IN ('r', 'v') AND relnamespace::regnamespace::text IN ('inbox', 'mirror')
  )
  ${WHO}, quote_ident(current_user) AS name,
    EXISTS (SELECT FROM ours WHERE has_table_privilege(oid, 'INSERT, UPDATE, DELETE, TRUNCATE'))
      OR EXISTS (SELECT FROM pg_catalog.pg_roles
        WHERE rolname IN ($1, 'pg_signal_backend') AND pg_has_role(oid, 'MEMBER')) AS touches,
    (SELECT count(*)::integer FROM ours WHERE NOT readable) AS unreadable,
    current_setting('temp_file_limit') = '-1' AS unbounded,
    (SELECT string_agg(oid::regprocedure::text, ', ') FROM pg_catalog.pg_proc
      WHERE proname = 'pg_logical_emit_message' AND has_function_privilege(oid, 'EXECUTE')) AS emits`;

const NONE = warn(
  'questions',
  'people ask in SQL as the role that writes: a question may end the sessions of the program, and fill the disk',
  'Make a role that may only read, and name it in QUERY_DATABASE_URL (docs/deploy.md).',
);
const ELSEWHERE = fail(
  'questions',
  'QUERY_DATABASE_URL names another database than MIRROR_DATABASE_URL',
  'Name the same one, or a standby of it.',
);
const SAME = warn(
  'questions',
  'QUERY_DATABASE_URL names the same role as MIRROR_DATABASE_URL',
  'Name one that may only read (docs/deploy.md).',
);
const GRANTS = 'Grant it what "carbon-mirror schema --grants read ROLE" prints, and no more.';
const AS_SUPERUSER = 'As a superuser, in this database:';

/** What a question of people can do but read. */
export async function examineQuestions(
  own: PoolOptions,
  forQuestions: PoolOptions | null,
): Promise<Finding[]> {
  if (forQuestions === null) {
    const unsafe = await during(own, findPowers);
    return [...unsafe, ...(unsafe.length > 0 ? [] : [NONE])];
  }
  const [program] = await during(own, postgres => postgres.query<Who>(WHO));
  try {
    const role = program?.role ?? '';
    const [asker] = await during(forQuestions, postgres => postgres.query<Asker>(ASKER, [role]));
    if (asker?.database !== program?.database) return [ELSEWHERE];
    const unsafe = await during(forQuestions, findPowers);
    const found = [...unsafe, ...(asker === undefined ? [] : judge(asker, role, unsafe.length > 0))];
    return found.length > 0 ? found : [ok('questions', 'people ask in SQL as a role that may only read')];
  } catch (error) {
    const found = error instanceof Error ? error.message : String(error);
    return [fail('questions', found, 'See who is named in QUERY_DATABASE_URL, and what they may do.')];
  }
}

/** A role that reaches beyond the tables is asked nothing. */
async function findPowers({ query }: Postgres): Promise<Finding[]> {
  const [role] = await query<RolePowers>(ROLE_POWERS);
  return role === undefined || role.powers === null
    ? []
    : [fail('questions', `${describePowers(role)}; "query" and Ask refuse it`, SAFE_ROLE)];
}

function judge(
  { role, name, touches, unreadable, unbounded, emits }: Asker,
  own: string,
  isUnsafe: boolean,
): Finding[] {
  const found: Finding[] = [];
  if (role === own) found.push(SAME);
  else if (touches && !isUnsafe)
    found.push(warn('questions', `the role ${name} for questions may do more than read`, GRANTS));
  if (unreadable > 0) {
    found.push(
      fail('questions', `the role ${name} for questions may not read ${unreadable} tables or views`, GRANTS),
    );
  }
  if (unbounded) {
    const todo = `${AS_SUPERUSER} ALTER ROLE ${name} SET temp_file_limit = '1GB';`;
    found.push(
      warn('questions', 'a question may fill the disk with temporary files: there is no bound', todo),
    );
  }
  if (emits !== null) {
    const todo = `${AS_SUPERUSER} REVOKE EXECUTE ON FUNCTION ${emits} FROM PUBLIC;`;
    found.push(
      warn('questions', 'a question may write to the log of the server by pg_logical_emit_message', todo),
    );
  }
  return found;
}
