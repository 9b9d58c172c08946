import { sql } from 'kysely';
import { PARTIAL_READ_PREFIX } from '../../inbox/job.js';
import type { Reader } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import { queryBuilder } from '../../store/sql/builder.js';
import { countRows, readFirst, readOne } from '../read.js';
import { readBacklog } from './backlog.js';
import { instantBefore, MINUTE_MS } from './instant-before.js';
import { readSuspensions } from './suspensions.js';
import { readUnknownOrders } from './unknown-orders.js';
import { type RejectedSum, readRejections, sumRejected } from './rejected-webhooks.js';

const DAY_MS = 86_400_000;

export type Activity = Awaited<ReturnType<typeof readActivity>>;

/** Reads the state of the receiver, the worker, the deliveries and the jobs. */
export async function readActivity(reader: Reader, now: number) {
  return await reader.inSnapshot(async snapshot => {
    const { unread, delayed } = await readBacklog(snapshot, now);
    const yesterday = instantBefore(now, DAY_MS);
    const ignored = queryBuilder
      .selectFrom('inbox.deliveries')
      .select('id')
      .where('received_at', '>=', yesterday)
      .where('verdict', '=', 'ignored');
    return {
      worker: await readProcessState(snapshot, 'work', now),
      receiver: await readProcessState(snapshot, 'receive', now),
      jobs: await readJobCounts(snapshot, instantBefore(now, 0)),
      /** When the oldest unread delivery arrived. Null if all are read. */
      oldestUnreadAt: unread?.since ?? null,
      /** Deliveries and jobs that have waited longer than they may. */
      delayed,
      /** Webhooks that were rejected in the last 24 hours. */
      rejectedWebhooks: await sumRejected(snapshot, yesterday),
      newestDeliveryAt: await readNewestArrival(snapshot),
      /** Deliveries that were ignored in the last 24 hours. */
      ignored: await countRows(snapshot, ignored),
      /** Why the registry cannot be read, or its webhooks do not arrive. */
      causes: await readCauses(snapshot, now),
      suspensions: await readSuspensions(snapshot),
      unknownOrders: await readUnknownOrders(snapshot, now),
    };
  });
}

type HeartbeatRole = Tables['inbox.processes']['role'];

export interface ProcessState {
  readonly state: 'never_seen' | 'alive' | 'gone';
  /** The last heartbeat. Null if there has been none. */
  readonly seenAt: string | null;
}

/**
 * Reads whether a worker or receiver is alive: its last heartbeat is at most a minute old. Heartbeats from the future are
 * ignored, because the clock has been corrected since.
 */
async function readProcessState(reader: Reader, role: HeartbeatRole, now: number): Promise<ProcessState> {
  const { seenAt } = await readOne(
    reader,
    queryBuilder
      .selectFrom('inbox.processes')
      .select(eb => eb.fn.max<string | null>('seen_at').as('seenAt'))
      .where('role', '=', role)
      .where('seen_at', '<=', instantBefore(now, -MINUTE_MS)),
  );
  if (seenAt === null) return { state: 'never_seen', seenAt };
  return { state: seenAt >= instantBefore(now, MINUTE_MS) ? 'alive' : 'gone', seenAt };
}

/** Reads the processes of a role that have written a heartbeat into this inbox recently. */
export async function readProcesses({ all }: Reader, role: HeartbeatRole) {
  return await all(
    queryBuilder.selectFrom('inbox.processes').select(['host', 'pid', 'started_at']).where('role', '=', role),
  );
}

/** Why the registry cannot be read, or its webhooks do not arrive. */
export type Cause =
  | { readonly code: 'registry_refuses'; readonly error: string }
  | ({ readonly code: 'webhooks_rejected' } & RejectedSum);

/** Reads why the registry cannot be read, or why its webhooks do not arrive. Returns none if all is well. */
async function readCauses(reader: Reader, now: number): Promise<Cause[]> {
  const rejections = await readRejections(reader, now);
  return [
    ...(await readAccessCauses(reader)),
    ...rejections.flatMap(({ isFault, ...sum }) =>
      isFault ? [{ code: 'webhooks_rejected' as const, ...sum }] : [],
    ),
  ];
}

/** Returns the newest error if the registry refuses the key or the app. All jobs are paused then, until a call succeeds. */
async function readAccessCauses(reader: Reader): Promise<Cause[]> {
  const paused = await readFirst(
    reader,
    queryBuilder
      .selectFrom('inbox.jobs')
      .select('last_error')
      .where('state', '=', 'paused')
      .where('error_or_pause_code', '=', 'unauthorized')
      .orderBy('id', 'desc'),
  );
  const error = paused?.last_error;
  return error ? [{ code: 'registry_refuses', error }] : [];
}

/**
 * Reads when the newest delivery or duplicate arrived; null before the first. A delivery counts its duplicates for at most a
 * minute, so that only the last minute of deliveries is searched.
 */
async function readNewestArrival(reader: Reader): Promise<string | null> {
  const deliveries = queryBuilder.selectFrom('inbox.deliveries');
  const { receivedAt } = await readOne(
    reader,
    deliveries.select(eb => eb.fn.max<string | null>('received_at').as('receivedAt')),
  );
  if (receivedAt === null) return null;
  const { duplicateAt } = await readOne(
    reader,
    deliveries
      .select(eb => eb.fn.max<string | null>('last_duplicate_at').as('duplicateAt'))
      .where('received_at', '>=', instantBefore(Date.parse(receivedAt), MINUTE_MS)),
  );
  return duplicateAt !== null && duplicateAt > receivedAt ? duplicateAt : receivedAt;
}

function selectJobs(state: Tables['inbox.jobs']['state']) {
  return queryBuilder.selectFrom('inbox.jobs as job').where('job.state', '=', state);
}

/** Returns a subquery that counts jobs. Each state is counted apart, because each has an index of its own. */
function countJobs(jobs: ReturnType<typeof selectJobs>) {
  return sql<number>`${jobs.select(eb => eb.fn.countAll<number>().as('count'))}`;
}

/** Jobs that have failed more than once, and are retried automatically. */
const RETRYING = selectJobs('waiting').where('job.attempts', '>', 1).where('job.last_error', 'is not', null);

/** Failed jobs of which no later job has read the same lists in full. */
const FAILED = selectJobs('failed').where(eb =>
  eb.not(
    eb.exists(
      eb
        .selectFrom('inbox.jobs as later')
        .select('later.id')
        .whereRef('later.installation_id', '=', 'job.installation_id')
        .whereRef('later.part', '=', 'job.part')
        .whereRef('later.started_at', '>', 'job.started_at')
        .where('later.state', '=', 'done')
        .where(later =>
          later.or([
            later('later.kind', '=', 'installation'),
            later('later.kind', '=', later.ref('job.kind')),
          ]),
        )
        .where('later.outcome', 'not in', ['merged', 'overtaken'])
        .where('later.outcome', 'not like', `${PARTIAL_READ_PREFIX}%`),
    ),
  ),
);

/**
 * Counts jobs by state, and reads the newest error of those that are retried. Done jobs are not counted: there may be a million.
 */
async function readJobCounts(reader: Reader, now: string) {
  const waiting = selectJobs('waiting');
  return await readOne(
    reader,
    queryBuilder.selectNoFrom([
      countJobs(waiting.where('job.run_at', '<=', now)).as('due'),
      countJobs(waiting.where('job.run_at', '>', now)).as('planned'),
      countJobs(selectJobs('running')).as('running'),
      countJobs(selectJobs('paused')).as('paused'),
      countJobs(FAILED).as('failed'),
      /** Jobs that failed during an outage of the registry, and are retried first. */
      countJobs(waiting.where('job.attempts', '>', 0).whereRef('job.run_at', '<=', 'job.created_at')).as(
        'tried_first',
      ),
      countJobs(RETRYING).as('retrying'),
      /** The error, its code and the id of the newest of them. */
      RETRYING.select('job.last_error').orderBy('job.id', 'desc').limit(1).as('retrying_error'),
      RETRYING.select('job.error_or_pause_code').orderBy('job.id', 'desc').limit(1).as('retrying_code'),
      RETRYING.select(eb => eb.fn.max<number | null>('job.id').as('id')).as('retrying_job'),
    ]),
  );
}

const NEWEST = queryBuilder.selectNoFrom(eb => [
  eb
    .selectFrom('mirror.version_counter')
    .select(counter => counter.fn.max('last').as('version'))
    .as('version'),
  eb
    .selectFrom('mirror.syncs')
    .select(syncs => syncs.fn.max('id').as('id'))
    .as('sync'),
  eb
    .selectFrom('mirror.syncs')
    .select(syncs => syncs.fn.max('finished_at').as('at'))
    .as('sync_finished_at'),
  eb
    .selectFrom('inbox.deliveries')
    .select(deliveries => deliveries.fn.max('id').as('id'))
    .as('delivery'),
  eb
    .selectFrom('inbox.jobs')
    .select(jobs => jobs.fn.max('id').as('id'))
    .as('job'),
  selectJobs('done')
    .select(jobs => jobs.fn.max('job.finished_at').as('at'))
    .as('job_done_at'),
  selectJobs('failed')
    .select(jobs => jobs.fn.max('job.finished_at').as('at'))
    .as('job_failed_at'),
  selectJobs('running')
    .select(jobs => jobs.fn.max('job.started_at').as('at'))
    .as('job_started_at'),
]);

/**
 * Returns a text that changes whenever a row, a sync, a delivery or a job changes, or when a process starts or stops. Heartbeats
 * do not change it.
 */
export async function readStateFingerprint(reader: Reader, now: number): Promise<string> {
  const newest = Object.values(await readOne(reader, NEWEST));
  const processes = [
    await readProcessState(reader, 'work', now),
    await readProcessState(reader, 'receive', now),
  ];
  return [...newest, ...processes.map(({ state }) => state)].join(' ');
}
