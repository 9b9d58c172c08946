import { sql } from 'kysely';
import {
  PROCESS_RETENTION_MS,
  HEARTBEAT_INTERVAL_MS,
  type ProcessIdentity,
  type ProcessRole,
  type InboxStatus,
} from '../../inbox/process.js';
import { PARTS } from '../../inbox/job.js';
import type { InboxPort } from '../../inbox/port.js';
import { formatInstant } from '../../resources/sql-values.js';
import { insertFrom, tableRef, select, sqlStatement } from '../sql/columns.js';
import { type Params, prepared, type ResultRow } from '../sql/prepared.js';
import type { NowParam, InboxDatabase } from './inbox-database.js';

type Heartbeat = NowParam & {
  readonly id: number;
  readonly role: ProcessRole;
  readonly host: string;
  readonly pid: number;
  readonly startedAt: string;
};
type HeartbeatParams = Params<Heartbeat>;

const own = tableRef('inbox.processes');
const stored = tableRef('inbox.processes', 'stored');
const later = tableRef('inbox.processes', 'later');
const job = tableRef('inbox.jobs');
const counter = tableRef('inbox.claims');

const isSelf = ({ id, role, host, pid, startedAt }: HeartbeatParams) =>
  sql`${own.id} = ${id} AND ${own.role} = ${role} AND ${own.host} = ${host} AND ${own.pid} = ${pid} AND ${own.started_at} = ${startedAt}`;
const UPDATE_SELF = prepared(
  ({ fn }, params: HeartbeatParams) =>
    sqlStatement`UPDATE ${own()} SET ${own.seen_at} = ${fn.clock(params.now)} WHERE ${isSelf(params)} RETURNING ${select({ id: own.id })}`,
);
const INSERT_SELF = prepared(({ fn }, params: HeartbeatParams) => {
  const { role, host, pid, startedAt } = params;
  const insert = insertFrom(
    'inbox.processes',
    {
      role: fn.cast('text', role),
      host: fn.cast('text', host),
      pid: fn.cast('int', pid),
      started_at: fn.cast('instant', startedAt),
      seen_at: fn.clock(params.now),
    },
    sql`WHERE NOT EXISTS (SELECT 1 FROM ${own()} WHERE ${isSelf(params)})`,
  );
  return sqlStatement`${insert} RETURNING ${select({ id: own.id })}`;
});
/** Removes old processes, but keeps the last one of each role. */
const REMOVE_OLD = prepared(
  ({ fn }, { now }: Params<NowParam>) =>
    sqlStatement`DELETE FROM ${own()} WHERE ${own.id} IN (
      SELECT ${stored.id} FROM ${stored()} WHERE ${stored.seen_at} < ${fn.addMs(fn.clock(now), sql.lit(-PROCESS_RETENTION_MS))}
        AND EXISTS (SELECT 1 FROM ${later()} WHERE ${later.role} = ${stored.role}
          AND (${later.seen_at}, ${later.id}) > (${stored.seen_at}, ${stored.id}))
      ${fn.forUpdateSkipLocked('stored')})`,
);
const READ_STATUS = prepared(({ fn }, params: Params<NowParam>) => {
  const now = fn.clock(params.now);
  const soon = fn.addMs(now, sql.lit(HEARTBEAT_INTERVAL_MS));
  const lastSeen = (role: ProcessRole) =>
    sql<
      string | null
    >`(SELECT max(${own.seen_at}) FROM ${own()} WHERE ${own.role} = ${role} AND ${own.seen_at} <= ${soon})`;
  const due = PARTS.map(
    part =>
      sql`SELECT min(${job.run_at}) AS at FROM ${job()} WHERE ${job.state} = 'waiting' AND ${job.part} = ${part} AND ${job.run_at} <= ${now}`,
  );
  return sqlStatement`SELECT ${select({
    at: now,
    claims: sql<number>`(SELECT ${counter.last} FROM ${counter()})`,
    receive: lastSeen('receive'),
    work: lastSeen('work'),
    dueAt: sql<string | null>`(SELECT min(at) FROM (${sql.join(due, sql` UNION ALL `)}) AS due)`,
  })}`;
});

/**
 * Creates the methods of `InboxPort` for heartbeats of processes. Each process has one row. A heartbeat inserts the row if it
 * is missing: at the first heartbeat, or after an older inbox was restored.
 */
export function createHeartbeats({
  read,
  commit,
  now,
}: InboxDatabase): Pick<InboxPort, 'heartbeat' | 'readStatus'> {
  let id = 0;
  return {
    heartbeat: async ({ startedAt, role, host, pid }: ProcessIdentity) => {
      const at = { now: now() };
      const heartbeat = { ...at, id, role, host, pid, startedAt: formatInstant(startedAt) };
      const [updated, inserted, , [status]] = await commit(
        UPDATE_SELF(heartbeat),
        INSERT_SELF(heartbeat),
        REMOVE_OLD(at),
        READ_STATUS(at),
      );
      id = [...updated, ...inserted][0]?.id ?? 0;
      return toInboxStatus(status);
    },
    readStatus: async () => toInboxStatus((await read(READ_STATUS({ now: now() })))[0][0]),
  };
}

function toInboxStatus(row: ResultRow<typeof READ_STATUS> | undefined): InboxStatus {
  if (row === undefined) throw new Error('expected the status of an inbox, got none');
  const { at, claims, receive, work, dueAt } = row;
  return {
    at: Date.parse(at),
    workerEverSeen: claims > 0 || work !== null,
    seenAt: {
      ...(receive !== null && { receive: Date.parse(receive) }),
      ...(work !== null && { work: Date.parse(work) }),
    },
    oldestDueAt: dueAt === null ? null : Date.parse(dueAt),
  };
}
