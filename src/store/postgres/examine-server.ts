import { sql } from 'kysely';
import { fail, type Finding, ok, warn } from '../contract/finding.js';
import { describeSchemaChanges } from '../schema-objects.js';
import { select, sqlStatement } from '../sql/columns.js';
import { prepared, type ResultRow } from '../sql/prepared.js';
import { findSchemaChanges } from './find-schema-changes.js';
import { createAutocommitBatch } from './database.js';
import type { PoolOptions } from './driver.js';
import { examineQueryRole } from './examine-query-role.js';
import { describeLocation } from './pool-settings.js';
import { assertMigrated } from './migrate.js';
import { withConnections } from './await-schema.js';

const MIB = 1024 * 1024;
const READ_SERVER = prepared(
  () =>
    sqlStatement`SELECT ${select({
      version: sql<string>`current_setting('server_version')`,
      bytes: sql<number>`pg_database_size(current_database())`,
      certificates: sql<number>`pg_total_relation_size('mirror.certificate_files')`,
      fsync: sql<string>`current_setting('fsync')`,
      full_page_writes: sql<string>`current_setting('full_page_writes')`,
      synchronous_standby_names: sql<string>`current_setting('synchronous_standby_names')`,
      replicas: sql<number>`(SELECT count(*) FROM pg_catalog.pg_stat_replication)`,
      encrypted: sql<boolean>`coalesce((SELECT ssl FROM pg_catalog.pg_stat_ssl WHERE pid = pg_backend_pid()), false)`,
      standby: sql<boolean>`pg_is_in_recovery()`,
      read_only: sql<boolean>`current_setting('transaction_read_only') = 'on'`,
    })}`,
);
/** Settings and state of the server that decide about durability and safety. */
export type ServerStatus = ResultRow<typeof READ_SERVER>;

/**
 * Yields the findings of the command `doctor` about the server: writability, durability, encryption, schema and the role for
 * SQL queries.
 */
export async function* examineServer(
  pool: PoolOptions,
  queryPool: PoolOptions | null,
): AsyncIterable<Finding> {
  const server = await withConnections(pool, async postgres => {
    await assertMigrated(postgres, 'inbox');
    await assertMigrated(postgres, 'mirror');
    const [[found]] = await createAutocommitBatch(postgres.query)(READ_SERVER());
    return found;
  });
  if (server === undefined) throw new Error('expected the settings of the server, got none');
  yield* listServerFindings(pool.url, server);
  if (!server.read_only) yield* describeSchemaChanges(await withConnections(pool, findSchemaChanges));
  yield* await examineQueryRole(pool, queryPool);
}

/** Returns the findings of the command `doctor` about the settings and the state of the server. */
export function listServerFindings(url: string, server: ServerStatus): Finding[] {
  return [
    ok('databases', describeServer(url, server)),
    ...checkWritable(server),
    ...checkCrashSafety(server),
    ...checkReplication(server),
    ...checkServerIdentity(url, server),
  ];
}

/** Describes a server by its version, its location and the sizes of its databases and certificates. */
function describeServer(url: string, { version, bytes, certificates }: ServerStatus): string {
  const toMib = (count: number): string => `${Math.ceil(count / MIB)} MiB`;
  return `PostgreSQL ${version}, ${describeLocation(url)}: ${toMib(bytes)}, of which certificates take ${toMib(certificates)}`;
}

/** Returns a failure if the server is a standby or the role may not write. */
function checkWritable({ standby, read_only: isReadOnly }: ServerStatus): Finding[] {
  if (!standby && !isReadOnly) return [];
  const why = standby
    ? 'the server is a standby'
    : 'the role or the database has default_transaction_read_only = on';
  const found = `${why}: nothing can be written, and each webhook is answered 503`;
  return [fail('databases', found, 'Name the primary in MIRROR_DATABASE_URL, or let the role write.')];
}

/** Returns a failure for each server setting that can lose commits when the power fails. */
function checkCrashSafety(server: ServerStatus): Finding[] {
  return (['fsync', 'full_page_writes'] as const)
    .filter(name => server[name] !== 'on')
    .map(name => {
      const found = `${name} is off: a power cut can lose deliveries that were answered 202`;
      return fail('durability', found, `Set ${name} = on at the server.`);
    });
}

/** Returns a warning if commits do not wait for the replicas. Then a failover to a replica may lose commits. */
function checkReplication({ replicas, synchronous_standby_names: names }: ServerStatus): Finding[] {
  if (replicas === 0 || names !== '') return [];
  return [
    warn(
      'durability',
      'a commit does not wait for the replicas: a failover can lose the last deliveries that were answered 202',
      'Set synchronous_standby_names at the server, or rely on the schedule: it finds what those deliveries announced.',
    ),
  ];
}

/**
 * Returns a warning if the connection is encrypted but `sslmode` does not ask to verify the certificate of the server. Otherwise returns
 * `[]`. By default, `sslmode` does not verify the certificate.
 */
function checkServerIdentity(url: string, { encrypted }: ServerStatus): Finding[] {
  if (!encrypted || /[?&]sslmode=verify-/.test(url)) return [];
  return [
    warn(
      'databases',
      'the connection is encrypted, but nobody verified whose server it is',
      'Add sslmode=verify-full (and sslrootcert=FILE where its authority is not a public one) to MIRROR_DATABASE_URL.',
    ),
  ];
}
