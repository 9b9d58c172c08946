import type { Reader, Statement } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import { columns, first, plain, sql } from '../sql.js';

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
  const due = sql`trigger = 'delivery' AND state = 'waiting' AND run_at <= ${before(now, 0)}`;
  const found = [await readAnnounced(reader), await readJob(reader, due, 'created_at')].flatMap(
    each => each ?? [],
  );
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

interface Announced extends Pick<Tables['inbox.jobs'], 'installation_id' | 'created_at' | 'last_error'> {
  readonly id: number | null;
}

/** The oldest delivery that no read of some resource has answered, as a job would tell of it. */
async function readAnnounced(reader: Reader): Promise<Announced | null> {
  return await first(
    reader,
    sql<Announced>`SELECT f.oldest_unread_at AS created_at, i.id AS installation_id, f.error AS last_error, NULL AS id
      FROM mirror.freshness AS f JOIN mirror.installations AS i ON i.organization_id = f.organization_id
      WHERE i.state = 'active' AND f.oldest_unread_at IS NOT NULL
        AND f.organization_id IN (SELECT organization_id FROM mirror.freshness_facts)
      ORDER BY f.oldest_unread_at, f.error DESC NULLS LAST, i.id LIMIT 1`,
  );
}

/** The newest that had come by then: it is asked for a job as it comes. */
async function readDelivery(reader: Reader, { created_at: at, installation_id: id }: Announced) {
  const wanted = columns('inbox.deliveries', ['id', 'received_at', 'job_id']);
  const asked = sql`SELECT ${wanted} FROM inbox.deliveries WHERE installation_id = ${id}
    AND received_at >= ${before(Date.parse(at), MINUTE_MS)} AND received_at <= ${at}
    ORDER BY received_at DESC LIMIT 1`;
  return await first(reader, asked);
}

/** A time of the schedule has come again, and what the one before had asked for was not begun, or fails since. */
async function findOverdue(reader: Reader, now: number): Promise<Waiting | null> {
  const origin = await first(
    reader,
    sql`SELECT ${columns('origin', ['schedule_seconds'])} FROM mirror.origin`,
  );
  if (origin === null) return null;
  const intervalMs = origin.schedule_seconds * 1000;
  const waiting = plain(`trigger = 'schedule' AND state = 'waiting'`);
  const due = sql`${waiting} AND run_at <= ${before(now, intervalMs)}`;
  const failed = sql`${waiting} AND attempts > 0 AND created_at <= ${before(now, 2 * intervalMs)}`;
  return waitingOf((await readJob(reader, due, 'run_at')) ?? (await readJob(reader, failed, 'created_at')));
}

/** Ten minutes old, and in ten minutes nothing was begun that had been due for ten minutes longer: the line does not move. */
async function findGrowing(reader: Reader, now: number): Promise<Waiting | null> {
  const then = before(now, GROWS_FOR_MS);
  const oldest = await readJob(reader, sql`state = 'waiting' AND run_at <= ${then}`, 'run_at');
  if (oldest === null) return null;
  const begun = sql`run_at <= ${before(Date.parse(oldest.run_at), GROWS_FOR_MS)} AND started_at > ${then}
    AND (state = 'running' OR finished_at > ${then})`;
  return (await readJob(reader, begun, 'id')) === null ? waitingOf(oldest) : null;
}

type Job = Pick<Tables['inbox.jobs'], 'id' | 'run_at' | 'last_error'>;

function waitingOf(job: Job | null): Waiting | null {
  return job && { since: job.run_at, deliveryId: null, jobId: job.id, error: job.last_error };
}

/** The first of those that are so. */
async function readJob(reader: Reader, isSo: Statement, order: string) {
  const wanted = columns('inbox.jobs', ['id', 'installation_id', 'run_at', 'created_at', 'last_error']);
  const jobs = sql`SELECT ${wanted} FROM inbox.jobs WHERE ${isSo} ORDER BY ${plain(order)} LIMIT 1`;
  return await first(reader, jobs);
}
