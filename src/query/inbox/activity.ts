import type { Reader, Statement } from '../../store/contract/reader.js';
import type { Tables } from '../../store/contract/tables.js';
import { PARTIAL_READ } from '../../inbox/job.js';
import { columns, count, first, largest, only, plain, sql } from '../sql.js';
import { getRegistryAccessAdvice } from '../../registry/errors.js';
import { readRejectionCauses, sumRejected } from './rejected-webhooks.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const GROWS_FOR_MS = 10 * MINUTE_MS;

export type Activity = Awaited<ReturnType<typeof readActivity>>;

/** What comes in and what is done about it. */
export async function readActivity(reader: Reader, now: number) {
  return await reader.inSnapshot(async snapshot => {
    const { unread, delayed } = await readBacklog(snapshot, now);
    const yesterday = before(now, DAY_MS);
    const ignored = sql`inbox.deliveries WHERE received_at >= ${yesterday} AND verdict = 'ignored'`;
    return {
      worker: await readLife(snapshot, 'work', now),
      receiver: await readLife(snapshot, 'receive', now),
      jobs: await readJobSums(snapshot, before(now, 0)),
      /** Since when the oldest delivery waits that no read has answered; null where none does. */
      oldestUnreadAt: unread?.since ?? null,
      /** What waits for longer than it may. */
      delayed,
      /** What was turned away since yesterday. */
      rejectedWebhooks: await sumRejected(snapshot, yesterday),
      newestDeliveryAt: await readNewestDelivery(snapshot),
      /** Since yesterday. */
      ignored: await count(snapshot, ignored),
      /** Why the registry is not asked or does not tell. */
      causes: await readCauses(snapshot, now),
    };
  });
}

type Role = Tables['inbox.processes']['role'];

/** Whether any process of a role lives: alive within a minute of its last heartbeat, gone after it. One from the future is of a clock that has been put right since: it says nothing. */
async function readLife(reader: Reader, role: Role, now: number) {
  const seen = sql`inbox.processes WHERE role = ${role} AND seen_at <= ${before(now, -MINUTE_MS)}`;
  const seenAt = await largest(reader, 'seen_at', seen);
  if (seenAt === null) return { state: 'never_seen', seenAt };
  return { state: seenAt >= before(now, MINUTE_MS) ? 'alive' : 'gone', seenAt };
}

/** All that have worked on this inbox of late. */
export async function readProcesses({ all }: Reader, role: Role) {
  const wanted = columns('inbox.processes', ['host', 'pid', 'started_at']);
  return await all(sql`SELECT ${wanted} FROM inbox.processes WHERE role = ${role}`);
}

/** What keeps the registry from being asked, or from telling, and what helps: in the words of doctor, status and the pages alike. */
export interface Cause {
  readonly check: 'registry' | 'rejected_webhooks';
  readonly found: string;
  readonly todo: string;
}

async function readCauses(reader: Reader, now: number): Promise<Cause[]> {
  const rejected = await readRejectionCauses(reader, now);
  return [...(await readAccessCauses(reader)), ...rejected.filter(({ isFault }) => isFault)].map(
    ({ check, found, todo }) => ({ check, found, todo }),
  );
}

/** A wrong key or app: until it is tried again nothing else is known. */
async function readAccessCauses(reader: Reader): Promise<Cause[]> {
  const paused = sql<{ found: string | null }>`SELECT last_error AS found FROM inbox.jobs
    WHERE state = 'paused' AND error_or_pause_code = 'unauthorized' ORDER BY id DESC LIMIT 1`;
  const found = (await first(reader, paused))?.found;
  return found ? [{ check: 'registry', found, todo: getRegistryAccessAdvice('unauthorized') }] : [];
}

/** When the newest came: a row is counted on for a minute at most. */
async function readNewestDelivery(reader: Reader): Promise<string | null> {
  const at = await largest(reader, 'received_at', plain('inbox.deliveries'));
  if (at === null) return null;
  const since = before(Date.parse(at), MINUTE_MS);
  const again = await largest(
    reader,
    'last_duplicate_at',
    sql`inbox.deliveries WHERE received_at >= ${since}`,
  );
  return again !== null && again > at ? again : at;
}

/** What waits, and where to look. */
interface Waiting {
  /** Since when. */
  readonly since: string;
  readonly deliveryId: number | null;
  readonly jobId: number | null;
  /** What went wrong with it at last; null where nothing did. */
  readonly error: string | null;
}

/** The oldest delivery that no read has answered, or null where there is none; and what waits for longer than it may. */
async function readBacklog(reader: Reader, now: number) {
  const unread = await findUnread(reader, now);
  const late = unread !== null && unread.since < before(now, MINUTE_MS) ? unread : null;
  const found = [
    ['A delivery is unread, and has waited', late],
    ['Scheduled work is older than its interval, and has waited', await findOverdue(reader, now)],
    ['The jobs in the queue do not move: the oldest has waited', await findGrowing(reader, now)],
  ] as const;
  const delayed = found.flatMap(([what, each]) => (each === null ? [] : [{ what, ...each }]));
  return { unread, delayed };
}

function before(now: number, ms: number): string {
  return new Date(now - ms).toISOString();
}

/** How many of the oldest due jobs are searched for the oldest delivery. */
const SEARCHED_JOBS = 20;

/** Finds the oldest delivery that no read has answered: by the view of freshness, or by the due jobs before a worker reported it. */
async function findUnread(reader: Reader, now: number): Promise<Waiting | null> {
  const announced = await readAnnounced(reader);
  const waiting = await readDueDeliveries(reader, now);
  const found = [...(announced === null ? [] : [await toWaiting(reader, announced)]), ...waiting];
  const [oldest] = found.toSorted((one, other) => (one.since < other.since ? -1 : 1));
  if (oldest === undefined) return null;
  return { ...oldest, error: found.find(({ error }) => error !== null)?.error ?? null };
}

/** Returns how long the due jobs of deliveries have waited. A job that existed before counts from its first delivery. */
async function readDueDeliveries(reader: Reader, now: number): Promise<Waiting[]> {
  const wanted = columns('inbox.jobs', ['id', 'created_at', 'last_error']);
  const jobs = await reader.all(sql`SELECT ${wanted} FROM inbox.jobs
    WHERE trigger = 'delivery' AND state = 'waiting' AND run_at <= ${before(now, 0)}
    ORDER BY created_at, id LIMIT ${SEARCHED_JOBS}`);
  const waiting: Waiting[] = [];
  for (const { id, created_at: createdAt, last_error: error } of jobs) {
    const delivery = await first(
      reader,
      sql`SELECT ${columns('inbox.deliveries', ['id', 'received_at'])} FROM inbox.deliveries
        WHERE job_id = ${id} AND received_at >= ${before(Date.parse(createdAt), MINUTE_MS)}
        ORDER BY received_at LIMIT 1`,
    );
    const since = delivery?.received_at ?? createdAt;
    waiting.push({ since, deliveryId: delivery?.id ?? null, jobId: id, error });
  }
  return waiting;
}

/** Finds the delivery behind an unread announcement. */
async function toWaiting(reader: Reader, announced: Announced): Promise<Waiting> {
  const delivery = await readDelivery(reader, announced);
  return {
    since: delivery?.received_at ?? announced.created_at,
    deliveryId: delivery?.id ?? null,
    jobId: delivery?.job_id ?? null,
    error: announced.last_error,
  };
}

type Announced = Pick<Tables['inbox.jobs'], 'installation_id' | 'created_at' | 'last_error'>;

/** The oldest delivery that no read of some resource has answered, as a job would tell of it. */
async function readAnnounced(reader: Reader): Promise<Announced | null> {
  const facts = await reader.all(
    sql`SELECT DISTINCT ${columns('freshness_facts', ['organization_id'])} FROM mirror.freshness_facts`,
  );
  if (facts.length === 0) return null;
  return await first(
    reader,
    sql<Announced>`SELECT f.oldest_unread_at AS created_at, i.id AS installation_id, f.error AS last_error
      FROM mirror.freshness AS f JOIN mirror.installations AS i ON i.organization_id = f.organization_id
      WHERE i.state = 'active' AND f.oldest_unread_at IS NOT NULL
        AND f.organization_id IN ${facts.map(({ organization_id: id }) => id)}
      ORDER BY f.oldest_unread_at, f.error DESC NULLS LAST, i.id LIMIT 1`,
  );
}

/** Returns the newest delivery that had arrived by then. */
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
  const jobs = sql`SELECT ${wanted} FROM inbox.jobs WHERE ${isSo} ORDER BY ${plain(order)}, id LIMIT 1`;
  return await first(reader, jobs);
}

const NUMBER = plain('SELECT count(*) FROM inbox.jobs AS j WHERE j.state =');
const RETRYING = plain(`FROM inbox.jobs WHERE state = 'waiting' AND attempts > 1 AND last_error IS NOT NULL`);
const READ_SINCE = sql`SELECT 1 FROM inbox.jobs AS d
  WHERE d.installation_id = j.installation_id AND d.part = j.part AND d.started_at > j.started_at
    AND d.state = 'done' AND d.kind IN ('installation', j.kind)
    AND d.outcome NOT IN ('merged', 'overtaken') AND d.outcome NOT LIKE ${`${PARTIAL_READ}%`}`;

type Counted = 'due' | 'planned' | 'running' | 'paused' | 'failed' | 'tried_first' | 'retrying';
type JobSums = Readonly<Record<Counted, number>> & {
  /** Of the newest of those that failed more than once and are due again by themselves. */
  readonly retrying_error: string | null;
  readonly retrying_job: number | null;
};

/** Each state by an index of its own; done ones are not counted: there may be a million. Due jobs may start now, planned ones later; of what failed nothing has read the same since; tried first is what failed while the registry did not answer. */
async function readJobSums(reader: Reader, now: string) {
  return await only(
    reader,
    sql<JobSums>`SELECT (${NUMBER} 'waiting' AND run_at <= ${now}) AS due, (${NUMBER} 'waiting' AND run_at > ${now}) AS planned,
      (${NUMBER} 'running') AS running, (${NUMBER} 'paused') AS paused,
      (${NUMBER} 'failed' AND NOT EXISTS (${READ_SINCE})) AS failed,
      (${NUMBER} 'waiting' AND attempts > 0 AND run_at <= created_at) AS tried_first,
      (SELECT count(*) ${RETRYING}) AS retrying,
      (SELECT last_error ${RETRYING} ORDER BY id DESC LIMIT 1) AS retrying_error,
      (SELECT max(id) ${RETRYING}) AS retrying_job`,
  );
}

const NEWEST = plain<
  Record<string, string | number | null>
>(`SELECT (SELECT max(last) FROM mirror.version_counter) AS a, (SELECT max(id) FROM mirror.syncs) AS b,
  (SELECT max(finished_at) FROM mirror.syncs) AS c, (SELECT max(id) FROM inbox.deliveries) AS d,
  (SELECT max(id) FROM inbox.jobs) AS e, (SELECT max(finished_at) FROM inbox.jobs WHERE state = 'done') AS f,
  (SELECT max(finished_at) FROM inbox.jobs WHERE state = 'failed') AS g,
  (SELECT max(started_at) FROM inbox.jobs WHERE state = 'running') AS h`);

/** Says something else once a row, a read, a delivery or a job has changed, or nobody works any more; not with each heartbeat. */
export async function readPulse(reader: Reader, now: number): Promise<string> {
  const newest = Object.values(await only(reader, NEWEST));
  const lives = [await readLife(reader, 'work', now), await readLife(reader, 'receive', now)];
  return [...newest.map(each => each ?? ''), ...lives.map(({ state }) => state)].join(' ');
}
