import type { Reader } from '../../store/contract/reader.js';
import { IN_PART, withJobs } from './ends.js';

/** What waits, and where to look. */
interface Waiting {
  /** Since when. */
  readonly since: string;
  readonly deliveryId: number | null;
  readonly jobId: number | null;
  /** What went wrong with it at last; null where nothing did. */
  readonly error: string | null;
}

/** What waits for longer than it may. */
export interface Delayed extends Waiting {
  /** The beginning of a sentence. */
  readonly what:
    | 'A delivery is unread, and has waited'
    | 'Scheduled work is older than its interval, and has waited'
    | 'The jobs in the queue do not move: the oldest has waited';
}

export interface Backlog {
  /** The oldest delivery that no read has answered; null where there is none. */
  readonly unread: Waiting | null;
  readonly delayed: readonly Delayed[];
}

const MINUTE_MS = 60_000;
const GROWS_FOR_MS = 10 * MINUTE_MS;

export async function readBacklog(reader: Reader, now: number): Promise<Backlog> {
  const unread = await findUnread(reader, now);
  const isLate = unread !== null && unread.since < before(now, MINUTE_MS);
  const overdue = await findOverdue(reader, now);
  const growing = await findGrowing(reader, now);
  return {
    unread,
    delayed: [
      ...when('A delivery is unread, and has waited', isLate ? unread : null),
      ...when('Scheduled work is older than its interval, and has waited', overdue),
      ...when('The jobs in the queue do not move: the oldest has waited', growing),
    ],
  };
}

function when(what: Delayed['what'], waiting: Waiting | null): Delayed[] {
  return waiting === null ? [] : [{ what, ...waiting }];
}

function before(now: number, ms: number): string {
  return new Date(now - ms).toISOString();
}

/** Where nobody tells yet of what was announced, the jobs do: those that are due, and those that have failed. */
async function findUnread(reader: Reader, now: number): Promise<Waiting | null> {
  const asked = jobs(reader).where('trigger', '=', 'delivery');
  const due = await asked
    .where('state', '=', 'waiting')
    .where('run_at', '<=', before(now, 0))
    .orderBy('run_at')
    .executeTakeFirst();
  const failed = await asked
    .where('state', 'in', ['waiting', 'paused'])
    .where('attempts', '>', 0)
    .orderBy('created_at')
    .executeTakeFirst();
  const found = [
    ...(await findAnnounced(reader)),
    ...(due === undefined ? [] : [await withDelivery(reader, due, due.run_at)]),
    ...(failed === undefined ? [] : [await withDelivery(reader, failed, failed.created_at)]),
  ];
  return found.toSorted((one, other) => (one.since < other.since ? -1 : 1))[0] ?? null;
}

/** The oldest delivery that no read of some resource has answered. */
async function findAnnounced(reader: Reader): Promise<Waiting[]> {
  const announced = await reader.db
    .selectFrom('freshness')
    .where('oldest_unread_at', 'is not', null)
    .select(['organization_id', 'oldest_unread_at as since', 'error'])
    .orderBy('oldest_unread_at')
    .orderBy('organization_id')
    .orderBy('resource')
    .limit(1)
    .executeTakeFirst();
  if (announced === undefined || announced.since === null) return [];
  const { organization_id: organizationId, since, error } = announced;
  const delivery = await reader.db
    .selectFrom('inbox.deliveries as d')
    .innerJoin('installations as i', 'i.id', 'd.installation_id')
    .where('i.organization_id', '=', organizationId)
    .where('d.received_at', '>=', new Date(Date.parse(since) - MINUTE_MS).toISOString())
    .where('d.received_at', '<=', since)
    .orderBy('d.received_at', 'desc')
    .select(['d.id', 'd.job_id'])
    .limit(1)
    .executeTakeFirst();
  if (delivery === undefined) return [{ since, deliveryId: null, jobId: null, error }];
  const [read] = await withJobs(reader, [delivery]);
  const { merged_into: merged, job_state: state, outcome } = read ?? {};
  const failed = typeof outcome === 'string' && (state !== 'done' || outcome.startsWith(IN_PART));
  return [
    {
      since,
      deliveryId: delivery.id,
      jobId: Number(merged ?? delivery.job_id),
      error: failed ? outcome : error,
    },
  ];
}

type Job = NonNullable<Awaited<ReturnType<ReturnType<typeof jobs>['executeTakeFirst']>>>;

async function withDelivery({ db }: Reader, job: Job, since: string): Promise<Waiting> {
  const delivery = await db
    .selectFrom('inbox.deliveries')
    .where('received_at', '>=', new Date(Date.parse(job.created_at) - MINUTE_MS).toISOString())
    .where('installation_id', '=', job.installation_id)
    .where('job_id', '=', job.id)
    .orderBy('received_at')
    .select(['id', 'received_at'])
    .limit(1)
    .executeTakeFirst();
  return waitingOf(job, delivery?.received_at ?? since, delivery?.id ?? null);
}

function waitingOf(job: Job, since: string, deliveryId: number | null = null): Waiting {
  return { since, deliveryId, jobId: job.id, error: job.last_error };
}

/** A time of the schedule has come again, and what the one before had asked for was not begun, or fails since. */
async function findOverdue(reader: Reader, now: number): Promise<Waiting | null> {
  const origin = await reader.db.selectFrom('origin').select('schedule_seconds').executeTakeFirst();
  if (origin === undefined) return null;
  const intervalMs = origin.schedule_seconds * 1000;
  const waiting = jobs(reader).where('trigger', '=', 'schedule').where('state', '=', 'waiting');
  const due = await waiting
    .where('run_at', '<=', before(now, intervalMs))
    .orderBy('run_at')
    .executeTakeFirst();
  if (due !== undefined) return waitingOf(due, due.run_at);
  const failed = await waiting
    .where('attempts', '>', 0)
    .where('created_at', '<=', before(now, 2 * intervalMs))
    .orderBy('created_at')
    .executeTakeFirst();
  return failed === undefined ? null : waitingOf(failed, failed.created_at);
}

/** Ten minutes old, and in ten minutes nothing was begun that had been due for ten minutes longer: the line does not move. */
async function findGrowing(reader: Reader, now: number): Promise<Waiting | null> {
  const then = before(now, GROWS_FOR_MS);
  const oldest = await jobs(reader)
    .where('state', '=', 'waiting')
    .where('run_at', '<=', then)
    .orderBy('run_at')
    .executeTakeFirst();
  if (oldest === undefined) return null;
  const begun = reader.db
    .selectFrom('inbox.jobs')
    .where('run_at', '<=', before(Date.parse(oldest.run_at), GROWS_FOR_MS))
    .where('started_at', '>', then)
    .where(eb => eb.or([eb('state', '=', 'running'), eb('finished_at', '>', then)]))
    .select('id')
    .limit(1);
  return (await begun.executeTakeFirst()) === undefined ? waitingOf(oldest, oldest.run_at) : null;
}

function jobs({ db }: Reader) {
  return db
    .selectFrom('inbox.jobs')
    .select(['id', 'installation_id', 'run_at', 'created_at', 'last_error'])
    .limit(1);
}
