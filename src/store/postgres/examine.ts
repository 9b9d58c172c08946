import { fail, type Finding, ok, warn } from '../contract/finding.js';
import { describeSchemaChanges } from '../schema-objects.js';
import { findSchemaChanges } from './compare-schema.js';
import type { PoolOptions } from './driver.js';
import { examineQuestions } from './examine-questions.js';
import { locationOf } from './settings.js';
import { demandSchema } from './migrate.js';
import { during } from './prepare.js';

export interface Server {
  readonly version: string;
  readonly bytes: number;
  readonly certificates: number;
  readonly fsync: string;
  readonly full_page_writes: string;
  readonly synchronous_standby_names: string;
  readonly replicas: number;
  readonly encrypted: boolean;
  readonly standby: boolean;
  readonly read_only: boolean;
}

const MIB = 1024 * 1024;
const SERVER = `
  SELECT current_setting('server_version') AS version, pg_database_size(current_database()) AS bytes,
    pg_total_relation_size('mirror.certificate_files') AS certificates,
    current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
    current_setting('synchronous_standby_names') AS synchronous_standby_names,
    (SELECT count(*) FROM pg_catalog.pg_stat_replication) AS replicas,
    coalesce((SELECT ssl FROM pg_catalog.pg_stat_ssl WHERE pid = pg_backend_pid()), false) AS encrypted,
    pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS read_only`;

/** What is the server's matter, and ours to tell: whose it is, and how durable a 202 is there. */
export async function* examine(pool: PoolOptions, forQuestions: PoolOptions | null): AsyncIterable<Finding> {
  const server = await during(pool, async postgres => {
    await demandSchema(postgres, 'inbox');
    await demandSchema(postgres, 'mirror');
    const [found] = await postgres.query<Server>(SERVER);
    return found;
  });
  if (server === undefined) throw new Error('the server told nothing of itself');
  yield* judge(pool.url, server);
  if (!server.read_only) yield* describeSchemaChanges(await during(pool, findSchemaChanges));
  yield* await examineQuestions(pool, forQuestions);
}

export function judge(url: string, server: Server): Finding[] {
  return [
    ok('databases', describe(url, server)),
    ...checkWrites(server),
    ...checkFlush(server),
    ...checkReplicas(server),
    ...checkConnection(url, server),
  ];
}

function describe(url: string, { version, bytes, certificates }: Server): string {
  const mib = (count: number): string => `${Math.ceil(count / MIB)} MiB`;
  return `PostgreSQL ${version}, ${locationOf(url)}: ${mib(bytes)}, of which certificates take ${mib(certificates)}`;
}

function checkWrites({ standby, read_only: isReadOnly }: Server): Finding[] {
  if (!standby && !isReadOnly) return [];
  const why = standby
    ? 'the server is a standby'
    : 'the role or the database has default_transaction_read_only = on';
  const found = `${why}: nothing can be written, and each webhook is answered 503`;
  return [fail('databases', found, 'Name the primary in MIRROR_DATABASE_URL, or let the role write.')];
}

function checkFlush(server: Server): Finding[] {
  return (['fsync', 'full_page_writes'] as const)
    .filter(name => server[name] !== 'on')
    .map(name => {
      const found = `${name} is off: a power cut can lose deliveries that were answered 202`;
      return fail('durability', found, `Set ${name} = on at the server.`);
    });
}

function checkReplicas({ replicas, synchronous_standby_names: names }: Server): Finding[] {
  if (replicas === 0 || names !== '') return [];
  return [
    warn(
      'durability',
      'a commit does not wait for the replicas: a failover can lose the last deliveries that were answered 202',
      'Set synchronous_standby_names at the server, or rely on the schedule: it finds what those deliveries announced.',
    ),
  ];
}

/** Without sslmode a server beyond this machine is talked to encrypted, whoever it is. */
function checkConnection(url: string, { encrypted }: Server): Finding[] {
  if (!encrypted || /[?&]sslmode=verify-/.test(url)) return [];
  return [
    warn(
      'databases',
      'the connection is encrypted, but nobody verified whose server it is',
      'Add sslmode=verify-full (and sslrootcert=FILE where its authority is not a public one) to MIRROR_DATABASE_URL.',
    ),
  ];
}
