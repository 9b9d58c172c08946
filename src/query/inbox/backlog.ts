import type { Reader } from '../../store/contract/reader.js';

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
  readonly what: string;
}

const MINUTE_MS = 60_000;
const GROWS_FOR_MS = 10 * MINUTE_MS;

/** The oldest delivery that no read has answered, or null where there is none; and what waits for longer than it may. */
export async function readBacklog(reader: Reader, now: number) {
  const unread = await findUnread(reader, now);
  const late = unread !== null && unread.since < before(now, MINUTE_MS) ? unread : null;
  const found = [
    ['A delivery is unread, and has waited', late],
    ['Scheduled work is older than its interval, and has waited', await findOverdue(reader, now)],
    ['The jobs in the queue do not move: the oldest has waited', await findGrowing(reader, now)],
  ] as const;
  const delayed: Delayed[] = found.flatMap(([what, each]) => (each === null ? [] : [{ what, ...each }]));
  return { unread, delayed };
}

function before(now: number, ms: number): string {
  return new Date(now - ms).toISOString();
}

/** Where nobody tells yet of what was announced, the jobs do that are due. */
async function findUnread(reader: Reader, now: number): Promise<Waiting | null> {
  const asked = jobs(reader).where('trigger', '=', 'delivery').where('state', '=', 'waiting');
  const due = asked.where('run_at', '<=', before(now, 0)).orderBy('created_at');
  const found = [await readAnnounced(reader), await due.executeTakeFirst()].flatMap(each => each ?? []);
  const [oldest] = found.toSorted((one, other) => (one.created_at < other.created_at ? -1 : 1));
  if (oldest === undefined) return null;
  const delivery = await readDelivery(reader, oldest);
  return {
    since: delivery?.received_at ?? oldest.created_at,
    deliveryId: delivery?.id ?? null,
    jobId: delivery?.job_id ?? oldest.id,
    error: found.find(({ last_error: error }) => error !== null)?.last_error ?? null,
  };
}

/** The oldest delivery that no read of some resource has answered, as a job would tell of it. */
async function readAnnounced({ db }: Reader) {
  return await db
    .selectFrom('freshness as f')
    .innerJoin('installations as i', 'i.organization_id', 'f.organization_id')
    .where('i.state', '=', 'active')
    .where('f.oldest_unread_at', 'is not', null)
    .select(eb => [
      eb.ref('f.oldest_unread_at').$notNull().as('created_at'),
      'i.id as installation_id',
      'f.error as last_error',
      eb.lit(null).as('id'),
    ])
    .orderBy('f.oldest_unread_at')
    .orderBy('f.error', order => order.desc().nullsLast())
    .orderBy('i.id')
    .limit(1)
    .executeTakeFirst();
}

/** The newest that had come by then: it is asked for a job as it comes. */
async function readDelivery({ db }: Reader, asked: { created_at: string; installation_id: string | null }) {
  return await db
    .selectFrom('inbox.deliveries')
    .where('installation_id', '=', asked.installation_id)
    .where('received_at', '>=', before(Date.parse(asked.created_at), MINUTE_MS))
    .where('received_at', '<=', asked.created_at)
    .orderBy('received_at', 'desc')
    .select(['id', 'received_at', 'job_id'])
    .limit(1)
    .executeTakeFirst();
}

/** A time of the schedule has come again, and what the one before had asked for was not begun, or fails since. */
async function findOverdue(reader: Reader, now: number): Promise<Waiting | null> {
  const origin = await reader.db.selectFrom('origin').select('schedule_seconds').executeTakeFirst();
  if (origin === undefined) return null;
  const intervalMs = origin.schedule_seconds * 1000;
  const waiting = jobs(reader).where('trigger', '=', 'schedule').where('state', '=', 'waiting');
  const due = waiting.where('run_at', '<=', before(now, intervalMs)).orderBy('run_at');
  const failed = waiting.where('attempts', '>', 0).where('created_at', '<=', before(now, 2 * intervalMs));
  const found =
    (await due.executeTakeFirst()) ?? (await failed.orderBy('created_at').executeTakeFirst()) ?? null;
  return found && waitingOf(found);
}

/** Ten minutes old, and in ten minutes nothing was begun that had been due for ten minutes longer: the line does not move. */
async function findGrowing(reader: Reader, now: number): Promise<Waiting | null> {
  const then = before(now, GROWS_FOR_MS);
  const waiting = jobs(reader).where('state', '=', 'waiting').where('run_at', '<=', then);
  const oldest = await waiting.orderBy('run_at').executeTakeFirst();
  if (oldest === undefined) return null;
  const begun = jobs(reader)
    .where('run_at', '<=', before(Date.parse(oldest.run_at), GROWS_FOR_MS))
    .where('started_at', '>', then)
    .where(eb => eb.or([eb('state', '=', 'running'), eb('finished_at', '>', then)]));
  return (await begun.executeTakeFirst()) === undefined ? waitingOf(oldest) : null;
}

function waitingOf(job: { id: number; run_at: string; last_error: string | null }): Waiting {
  return { since: job.run_at, deliveryId: null, jobId: job.id, error: job.last_error };
}

function jobs({ db }: Reader) {
  return db
    .selectFrom('inbox.jobs')
    .select(['id', 'installation_id', 'run_at', 'created_at', 'last_error'])
    .limit(1);
}
