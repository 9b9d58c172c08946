import { sql } from 'kysely';
import type { DeliveryRow, JobRow } from '../../contract/inbox-tables.js';
import type { Sqlite } from '../open.js';
import { parameter, statement } from '../statement.js';
import { FOLDED_WITHIN_MS, type Verdict } from '../../../inbox/delivery.js';
import type { ClaimedJob, JobState } from '../../../inbox/job.js';
import { queries, raw, toInstant } from './queries.js';

/** Done jobs are not counted: there may be millions. */
export interface JobCounts {
  readonly ready: number;
  readonly claimed: number;
  readonly parked: number;
  readonly buried: number;
  /** When the oldest ready job may start or might have started; null when none waits. */
  readonly oldestRunAt: string | null;
}

export interface JobFilter {
  readonly state?: JobState;
  readonly installationId?: string;
  readonly limit?: number;
}

export interface DeliveryFilter {
  readonly verdict?: Verdict;
  readonly installationId?: string;
  readonly limit?: number;
}

/** A delivery beside what became of it. */
export type DeliveryReport = DeliveryRow & { job_state: JobState | null; job_outcome: string | null };

/** What people and gauges ask of the inbox. Nothing here writes. */
export interface Reports {
  countJobs(): JobCounts;
  /** Newest first. */
  listJobs(filter: JobFilter): JobRow[];
  findJob(id: number): JobRow | null;
  /** Newest first. */
  listDeliveries(filter: DeliveryFilter): DeliveryReport[];
  /** The text that came with a delivery, as it was signed. */
  readSignedText(deliveryId: number): string | null;
  /** The newest delivery that a job answers; null where none asked for it, or none of the latest thousands. */
  newestDelivery(job: Pick<ClaimedJob, 'id' | 'installationId' | 'trigger'>): number | null;
  /** Whether an accepted delivery for the installation, of this event where one is named, came since; none of the future. */
  hasDeliverySince(installationId: string, since: number, now: number, event?: string): boolean;
  /** The same without those that repeat one which waits already. */
  hasNewDeliverySince(installationId: string, since: number, now: number): boolean;
}

const DEFAULT_LIMIT = 100;
/** Looked through for the newest of a job; as many take some milliseconds. */
const LATEST = 10_000;

/** Who else asked for a job hides a delivery, but for a person, who hides one that had come too. */
const MAY_ANSWER: readonly string[] = ['delivery', 'person'];

type Since = { installationId: string; event: string | null; begun: string; since: string; now: string };

interface Stretch {
  readonly installationId: string;
  readonly from: number;
  readonly now: number;
  readonly event: string | null;
}

export function createReports(db: Sqlite): Reports {
  const counts = statement<{ none: null }, JobCounts>(
    db,
    raw(sql<JobCounts>`SELECT
      (SELECT count(*) FROM jobs WHERE state = 'ready') AS ready,
      (SELECT count(*) FROM jobs WHERE state = 'claimed') AS claimed,
      (SELECT count(*) FROM jobs WHERE state = 'parked') AS parked,
      (SELECT count(*) FROM jobs WHERE state = 'buried') AS buried,
      (SELECT min(run_at) FROM jobs WHERE state = 'ready') AS oldestRunAt`),
  );
  const job = statement<{ id: number }, JobRow>(
    db,
    queries.selectFrom('jobs').selectAll().where('id', '=', parameter<number>('id')),
  );
  const text = statement<{ deliveryId: number }, { signed_data: string }>(
    db,
    queries
      .selectFrom('deliveries')
      .innerJoin('signed_texts', 'signed_texts.id', 'deliveries.text_id')
      .select('signed_data')
      .where('deliveries.id', '=', parameter<number>('deliveryId')),
  );
  const since = statement<Since, { found: number }>(
    db,
    raw(sql<{ found: number }>`SELECT EXISTS (SELECT 1 FROM deliveries
      WHERE installation_id = ${parameter('installationId')} AND verdict = 'accepted'
        AND received_at BETWEEN ${parameter('begun')} AND ${parameter('now')}
        AND coalesce(last_received_at, received_at) >= ${parameter('since')}
        AND event IS coalesce(${parameter('event')}, event)) AS found`),
  );
  const newest = statement<{ installationId: string; from: number; to: number }, { id: number }>(
    db,
    raw(sql<{ id: number }>`SELECT id FROM deliveries
      WHERE id > (SELECT max(id) FROM deliveries) - ${sql.lit(LATEST)}
        AND installation_id = ${parameter('installationId')} AND verdict = 'accepted'
        AND job_id BETWEEN ${parameter('from')} AND ${parameter('to')}
      ORDER BY id DESC LIMIT 1`),
  );
  /** Whether one came in a row that was begun since then. */
  const hasSince = (begun: number, { installationId, from, now, event }: Stretch): boolean =>
    since.get({
      installationId,
      event,
      begun: toInstant(begun),
      since: toInstant(from),
      now: toInstant(now),
    })?.found === 1;

  return {
    countJobs: () =>
      counts.get({ none: null }) ?? { ready: 0, claimed: 0, parked: 0, buried: 0, oldestRunAt: null },
    listJobs: filter => listJobs(db, filter),
    findJob: id => job.get({ id }) ?? null,
    listDeliveries: filter => listDeliveries(db, filter),
    readSignedText: deliveryId => text.get({ deliveryId })?.signed_data ?? null,
    newestDelivery: ({ id, installationId, trigger }) => {
      if (installationId === null || !MAY_ANSWER.includes(trigger)) return null;
      const from = trigger === 'delivery' ? 0 : id;
      return newest.get({ installationId, from, to: id })?.id ?? null;
    },
    hasDeliverySince: (installationId, from, now, event) =>
      hasSince(from - FOLDED_WITHIN_MS, { installationId, from, now, event: event ?? null }),
    hasNewDeliverySince: (installationId, from, now) =>
      hasSince(from, { installationId, from, now, event: null }),
  };
}

function listJobs(db: Sqlite, { state, installationId, limit = DEFAULT_LIMIT }: JobFilter): JobRow[] {
  let query = queries.selectFrom('jobs').selectAll().orderBy('id', 'desc').limit(limit);
  if (state !== undefined) query = query.where('state', '=', state);
  if (installationId !== undefined) query = query.where('installation_id', '=', installationId);
  return statement<Record<string, never>, JobRow>(db, query).all({});
}

function listDeliveries(
  db: Sqlite,
  { verdict, installationId, limit = DEFAULT_LIMIT }: DeliveryFilter,
): DeliveryReport[] {
  let query = queries
    .selectFrom('deliveries')
    .leftJoin('jobs', 'jobs.id', 'deliveries.job_id')
    .selectAll('deliveries')
    .select(['jobs.state as job_state', 'jobs.outcome as job_outcome'])
    .orderBy('deliveries.id', 'desc')
    .limit(limit);
  if (verdict !== undefined) query = query.where('deliveries.verdict', '=', verdict);
  if (installationId !== undefined) query = query.where('deliveries.installation_id', '=', installationId);
  return statement<Record<string, never>, DeliveryReport>(db, query).all({});
}
