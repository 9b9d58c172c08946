import { sql } from 'kysely';
import { PARTIAL_READ_PREFIX } from '../../inbox/job.js';
import type { Reader } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import { queryBuilder } from '../../store/sql/builder.js';
import { countRows, readFirst, readOne } from '../read-one.js';
import { readBacklog } from './backlog.js';
import { readNewestArrival } from './deliveries.js';
import { instantBefore, MINUTE_MS } from './instant-before.js';
import { type RejectedSum, readRejections, sumRejected } from './rejected-webhooks.js';
import { type TypeAmount, totalsOfSums } from '../answer/answer.js';
import { sumWarehouses } from '../sums.js';

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

/**
 * Reads the processes of a role that have written heartbeats. Processes that stopped long ago are no longer stored, except for the last
 * one.
 */
export async function readProcesses({ all }: Reader, role: HeartbeatRole) {
  return await all(
    queryBuilder.selectFrom('inbox.processes').select(['host', 'pid', 'started_at']).where('role', '=', role),
  );
}

/** Why the registry cannot be read, or its webhooks do not arrive. */
export type Cause =
  | { readonly code: 'registry_refuses'; readonly error: string }
  | ({ readonly code: 'webhooks_rejected' } & RejectedSum);

/** Reads why the registry cannot be read, or why its webhooks do not arrive. Returns an empty array if there is no such cause. */
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

/** Nobody can close an order of the state `unknown`, so it is reported for so long. */
export const UNKNOWN_ORDER_REPORTED_DAYS = 7;

/** Orders of the console whose answer was lost, so that a person must look at the registry. */
export interface UnknownOrders {
  readonly orders: number;
  /** The order that ended first. */
  readonly firstId: number;
  /** When the first of them ended. */
  readonly since: string;
}

/** Reads the orders whose result has been unknown for at most `UNKNOWN_ORDER_REPORTED_DAYS`. Null if there are none. */
async function readUnknownOrders(reader: Reader, now: number): Promise<UnknownOrders | null> {
  const orders = await reader.all(
    queryBuilder
      .selectFrom('inbox.orders')
      .select(['id', 'finished_at'])
      .where('state', '=', 'unknown')
      .where('finished_at', '>=', instantBefore(now, UNKNOWN_ORDER_REPORTED_DAYS * DAY_MS))
      .orderBy('finished_at')
      .orderBy('id'),
  );
  const [first] = orders;
  if (first === undefined || first.finished_at === null) return null;
  return { orders: orders.length, firstId: first.id, since: first.finished_at };
}

/** The organizations that have suspended the app, and the credits that nobody can reserve meanwhile. */
export interface Suspensions {
  readonly organizations: number;
  /** The organization that was suspended first. */
  readonly firstId: string;
  readonly firstName: string | null;
  /** When the mirror observed the first suspension. */
  readonly since: string;
  /** The last known amounts of all of them, by credit type. */
  readonly amounts: readonly TypeAmount[];
  /** Credits without a usable amount, which are in no sum. */
  readonly rowsWithoutAmount: number;
}

/** Reads which organizations have suspended the app, and adds up their credits. Returns null if no organization has. */
async function readSuspensions(reader: Reader): Promise<Suspensions | null> {
  const suspended = await reader.all(
    queryBuilder
      .selectFrom('mirror.coverage as known')
      .innerJoin('mirror.installations_history as version', 'version.id', 'known.installation_id')
      .where('known.state', '=', 'suspended')
      .where('known.organization_id', 'is not', null)
      .where(eb =>
        // The versions since the state last changed.
        eb.not(
          eb.exists(
            eb
              .selectFrom('mirror.installations_history as other')
              .select('other.id')
              .whereRef('other.id', '=', 'version.id')
              .whereRef('other.valid_from', '>=', 'version.valid_from')
              .where('other.state', '<>', 'suspended'),
          ),
        ),
      )
      .select([
        sql<string>`known.organization_id`.as('organization_id'),
        'known.organization_name',
        sql<string>`min(version.valid_from)`.as('since'),
      ])
      .groupBy(['known.organization_id', 'known.organization_name'])
      .orderBy('since')
      .orderBy('known.organization_id'),
  );
  const [first] = suspended;
  if (first === undefined) return null;
  const ids = suspended.map(({ organization_id: id }) => id);
  const totals = totalsOfSums(await sumWarehouses(reader, ids, ['type']));
  return {
    organizations: suspended.length,
    firstId: first.organization_id,
    firstName: first.organization_name,
    since: first.since,
    amounts: totals.amounts ?? [],
    rowsWithoutAmount: totals.rowsWithoutAmount,
  };
}
