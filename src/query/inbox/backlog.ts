/** Finds work that has waited too long: unread deliveries, overdue scheduled jobs, and a queue that does not move. */
import { type Expression, type NotNull, sql, type SqlBool } from 'kysely';
import type { Reader } from '../../store/contract/reader.js';
import { queryBuilder } from '../../store/sql/builder.js';
import { readFirst } from '../read-one.js';
import { instantBefore, MINUTE_MS } from './instant-before.js';

/** A delivery or a job that waits. */
interface WaitingItem {
  /** The instant from which it waits. */
  readonly since: string;
  readonly deliveryId: number | null;
  readonly jobId: number | null;
  /** The last error. Null if nothing has failed. */
  readonly error: string | null;
}

/** Reads the oldest unread delivery, and the deliveries and jobs that have waited longer than they may. */
export async function readBacklog(reader: Reader, now: number) {
  const unread = await findOldestUnread(reader, now);
  const lateDelivery = unread !== null && unread.since < instantBefore(now, MINUTE_MS) ? unread : null;
  const items = [
    ['delivery_unread', lateDelivery],
    ['schedule_overdue', await findOverdueScheduledJob(reader, now)],
    ['queue_stalled', await findStalledJob(reader, now)],
  ] as const;
  return { unread, delayed: items.flatMap(([code, item]) => (item === null ? [] : [{ code, ...item }])) };
}

/** How many of the oldest due jobs are searched for the oldest delivery. */
const SEARCHED_JOBS = 20;

/**
 * Finds the oldest delivery whose list was not read since the delivery arrived. Null if there is none. Also searches due jobs, because the
 * view `freshness` contains only deliveries that a worker has already reported.
 */
async function findOldestUnread(reader: Reader, now: number): Promise<WaitingItem | null> {
  const items = [...(await readReportedDelivery(reader)), ...(await readDueDeliveries(reader, now))];
  const [oldest] = items.toSorted((one, other) => (one.since < other.since ? -1 : 1));
  if (oldest === undefined) return null;
  return { ...oldest, error: items.find(({ error }) => error !== null)?.error ?? null };
}

/** Reads the oldest due jobs that deliveries have requested. Each item waits since the first delivery of its job arrived. */
async function readDueDeliveries(reader: Reader, now: number): Promise<WaitingItem[]> {
  const jobs = await reader.all(
    queryBuilder
      .selectFrom('inbox.jobs')
      .select(['id', 'created_at', 'last_error'])
      .where('trigger', '=', 'delivery')
      .where('state', '=', 'waiting')
      .where('run_at', '<=', instantBefore(now, 0))
      .orderBy('created_at')
      .orderBy('id')
      .limit(SEARCHED_JOBS),
  );
  const items: WaitingItem[] = [];
  for (const { id, created_at: createdAt, last_error: error } of jobs) {
    const delivery = await readFirst(
      reader,
      queryBuilder
        .selectFrom('inbox.deliveries')
        .select(['id', 'received_at'])
        .where('job_id', '=', id)
        .where('received_at', '>=', instantBefore(Date.parse(createdAt), MINUTE_MS))
        .orderBy('received_at'),
    );
    const since = delivery?.received_at ?? createdAt;
    items.push({ since, deliveryId: delivery?.id ?? null, jobId: id, error });
  }
  return items;
}

/** Reads the oldest delivery that the view `freshness` reports as unread. Returns an empty array if all deliveries are read. */
async function readReportedDelivery(reader: Reader): Promise<WaitingItem[]> {
  // PostgreSQL reads the view by its indexes for a list of ids, but reads all of it for a subquery.
  const facts = await reader.all(
    queryBuilder.selectFrom('mirror.freshness_facts').select('organization_id').distinct(),
  );
  if (facts.length === 0) return [];
  const report = await readFirst(
    reader,
    queryBuilder
      .selectFrom('mirror.freshness as list')
      .innerJoin(
        'mirror.installations as installation',
        'installation.organization_id',
        'list.organization_id',
      )
      .select(['list.oldest_unread_at', 'list.error', 'installation.id as installation_id'])
      .where('installation.state', '=', 'active')
      .where('list.oldest_unread_at', 'is not', null)
      .where(
        'list.organization_id',
        'in',
        facts.map(({ organization_id: id }) => id),
      )
      .orderBy('list.oldest_unread_at')
      .orderBy('list.error', order => order.desc().nullsLast())
      .orderBy('installation.id')
      .$narrowType<{ oldest_unread_at: NotNull }>(),
  );
  if (report === null) return [];
  const { oldest_unread_at: unreadAt, installation_id: installationId, error } = report;
  const delivery = await readNewestDelivery(reader, installationId, unreadAt);
  const since = delivery?.received_at ?? unreadAt;
  return [{ since, deliveryId: delivery?.id ?? null, jobId: delivery?.job_id ?? null, error }];
}

/** Reads the newest delivery of an installation that arrived within the minute before an instant. */
async function readNewestDelivery(reader: Reader, installationId: string, at: string) {
  return await readFirst(
    reader,
    queryBuilder
      .selectFrom('inbox.deliveries')
      .select(['id', 'received_at', 'job_id'])
      .where('installation_id', '=', installationId)
      .where('received_at', '>=', instantBefore(Date.parse(at), MINUTE_MS))
      .where('received_at', '<=', at)
      .orderBy('received_at', 'desc'),
  );
}

/** Finds a scheduled job that has not started for a whole interval, or has failed for two intervals. */
async function findOverdueScheduledJob(reader: Reader, now: number): Promise<WaitingItem | null> {
  const origin = await readFirst(reader, queryBuilder.selectFrom('mirror.origin').select('schedule_seconds'));
  if (origin === null) return null;
  const intervalMs = origin.schedule_seconds * 1000;
  const isScheduled = sql`trigger = 'schedule' AND state = 'waiting'`;
  const isDue = sql<boolean>`${isScheduled} AND run_at <= ${instantBefore(now, intervalMs)}`;
  const hasFailed = sql<boolean>`${isScheduled} AND attempts > 0 AND created_at <= ${instantBefore(now, 2 * intervalMs)}`;
  const job =
    (await readFirstJob(reader, isDue, 'run_at')) ?? (await readFirstJob(reader, hasFailed, 'created_at'));
  return job && toWaitingItem(job);
}

/**
 * How long a job must be due to count as stalled. The queue still moves if it has lately started a job that was due this long
 * before.
 */
const STALLED_AFTER_MS = 10 * MINUTE_MS;

/** Finds the oldest waiting job if the queue does not move. Null if it moves, or if no job has been due for long. */
async function findStalledJob(reader: Reader, now: number): Promise<WaitingItem | null> {
  const then = instantBefore(now, STALLED_AFTER_MS);
  const oldest = await readFirstJob(reader, sql`state = 'waiting' AND run_at <= ${then}`, 'run_at');
  if (oldest === null) return null;
  const wasDueEarlier = sql`run_at <= ${instantBefore(Date.parse(oldest.run_at), STALLED_AFTER_MS)}`;
  const hasStarted = sql`started_at > ${then} AND (state = 'running' OR finished_at > ${then})`;
  const started = await readFirstJob(reader, sql`${wasDueEarlier} AND ${hasStarted}`, 'id');
  return started === null ? toWaitingItem(oldest) : null;
}

type JobSummary = NonNullable<Awaited<ReturnType<typeof readFirstJob>>>;

/** Returns a job as an item that waits since its scheduled time. */
function toWaitingItem({ id, run_at: since, last_error: error }: JobSummary): WaitingItem {
  return { since, deliveryId: null, jobId: id, error };
}

/** Reads the first job, in the given order, that meets a condition. */
async function readFirstJob(
  reader: Reader,
  condition: Expression<SqlBool>,
  order: 'run_at' | 'created_at' | 'id',
) {
  return await readFirst(
    reader,
    queryBuilder
      .selectFrom('inbox.jobs')
      .select(['id', 'run_at', 'last_error'])
      .where(condition)
      .orderBy(order)
      .orderBy('id'),
  );
}
