import { sql } from 'kysely';
import { MAX_BACKOFF_MS } from '../../../inbox/backoff.js';
import { type JobPart, type NewJob, PRIORITIES, UNCHANGED_OUTCOME } from '../../../inbox/job.js';
import { formatInstant } from '../../../resources/sql-values.js';
import { insertFrom, tableRef, select, sqlStatement } from '../../sql/columns.js';
import { type Params, prepared } from '../../sql/prepared.js';
import type { Sqlite } from '../open-database.js';
import { prepareOn } from '../database.js';
import { choosePaceMs, RECENT_READS, computeStartTime } from '../../../inbox/pace.js';

type InsertParameters = {
  kind: string;
  organizationId: string | null;
  installationId: string | null;
  part: JobPart;
  dedupeKey: string;
  trigger: string;
  payload: string;
  onlyDuplicates: number;
  runAt: string;
  now: string;
  latest: string;
};

type SufficientJobParameters = {
  dedupeKey: string;
  trigger: string;
  organizationId: string | null;
  installationId: string | null;
  onlyDuplicates: number;
  at: string;
};

const own = tableRef('inbox.jobs');
const stored = tableRef('inbox.jobs', 'jobs');
const excluded = tableRef('inbox.jobs', 'excluded');

/**
 * Finds a waiting or paused job that already covers the requested job, so that merging the two would change nothing. In a flood of
 * deliveries there is mostly such a job, so nothing is written.
 */
const FIND_SUFFICIENT = prepared((_, params: Params<SufficientJobParameters>) => {
  const { dedupeKey, trigger, organizationId, installationId, onlyDuplicates, at } = params;
  return sqlStatement`SELECT ${select({ id: own.id })} FROM ${own()}
    WHERE ${own.dedupe_key} = ${dedupeKey} AND ${own.state} IN ('waiting', 'paused') AND ${own.payload} = '{}'
      AND ((${own.state} = 'waiting' AND ${own.run_at} <= ${at})
        OR (${onlyDuplicates} AND (${own.state} = 'paused' OR ${own.attempts} > 0)))
      AND (${onlyDuplicates} OR NOT ${own.only_duplicates_asked})
      AND ${own.trigger} IN ('person', ${trigger})
      AND coalesce(${organizationId}, ${own.organization_id}, '') = coalesce(${own.organization_id}, '')
      AND coalesce(${installationId}, ${own.installation_id}, '') = coalesce(${own.installation_id}, '')`;
});

const INSERT_OR_MERGE = prepared(({ fn }, params: Params<InsertParameters>) => {
  const { installationId, dedupeKey, trigger, onlyDuplicates } = params;
  const priority = sql<number>`CASE
    WHEN ${trigger} = 'person' OR ${installationId} IS NULL THEN ${PRIORITIES.announced}
    WHEN NOT EXISTS (SELECT 1 FROM ${own()} WHERE ${own.dedupe_key} = ${dedupeKey} AND ${own.started_at} IS NOT NULL)
      THEN ${PRIORITIES.firstRead}
    WHEN ${trigger} = 'delivery' AND NOT ${onlyDuplicates} THEN ${PRIORITIES.announced}
    WHEN ${trigger} = 'schedule' OR ${onlyDuplicates} THEN ${PRIORITIES.scheduled}
    ELSE ${PRIORITIES.firstRead} END`;
  const organizationId = sql<string | null>`coalesce(${params.organizationId}, (
    SELECT ${own.organization_id} FROM ${own()}
    WHERE ${own.installation_id} = ${installationId} AND ${own.organization_id} IS NOT NULL LIMIT 1))`;
  const insert = insertFrom(
    'inbox.jobs',
    {
      kind: params.kind,
      organization_id: organizationId,
      installation_id: installationId,
      part: params.part,
      dedupe_key: dedupeKey,
      trigger,
      priority,
      payload: params.payload,
      only_duplicates_asked: onlyDuplicates,
      run_at: params.runAt,
      created_at: params.now,
    },
    sql`WHERE true`,
  );
  return sqlStatement`${insert}
    ON CONFLICT (${own.dedupe_key}) WHERE ${own.state} IN ('waiting', 'paused') DO UPDATE SET
      ${own.state} = 'waiting',
      ${own.run_at} = CASE
        WHEN ${stored.state} = 'waiting' AND ${stored.attempts} > 0 AND ${excluded.trigger} <> 'person'
          AND ${stored.run_at} <= ${params.latest} THEN ${stored.run_at}
        ELSE min(${stored.run_at}, ${excluded.run_at}) END,
      ${own.attempts} = iif(${stored.state} = 'paused', 0, ${stored.attempts}),
      ${own.priority} = min(${stored.priority}, ${excluded.priority}),
      ${own.trigger} = CASE
        WHEN 'person' IN (${stored.trigger}, ${excluded.trigger}) THEN 'person'
        WHEN ${excluded.trigger} = 'delivery' OR ${stored.trigger} = 'schedule' THEN ${excluded.trigger}
        ELSE ${stored.trigger} END,
      ${own.only_duplicates_asked} = CASE 'schedule'
        WHEN ${stored.trigger} THEN ${excluded.only_duplicates_asked}
        WHEN ${excluded.trigger} THEN ${stored.only_duplicates_asked}
        ELSE min(${stored.only_duplicates_asked}, ${excluded.only_duplicates_asked}) END,
      ${own.payload} = ${fn.mergePayloads(stored.payload, excluded.payload)},
      ${own.organization_id} = coalesce(${excluded.organization_id}, ${stored.organization_id}),
      ${own.installation_id} = coalesce(${excluded.installation_id}, ${stored.installation_id})
    RETURNING ${select({ id: own.id })}`;
});

/**
 * Creates a function that enqueues a job and returns the job id. If a job with the same dedupe key waits or is paused, merges the new job
 * into that job instead. Call the function inside `runInTransaction`.
 *
 * - A job never merges with a running one, which may have read the data before the change.
 * - A paused job waits again, because something has changed.
 * - A job that waits after a failure keeps its retry time, with two exceptions: a person requested the new job, or the retry time is
 *   further away than the longest backoff, because it was set while the clock was ahead.
 * - A duplicate delivery neither resumes a paused job nor changes a retry time.
 */
export function createEnqueue(db: Sqlite): (job: NewJob, now: number) => number {
  const findEarliestStart = createStartTimeFinder(db);
  const sufficientJob = prepareOn(db, FIND_SUFFICIENT);
  const insert = prepareOn(db, INSERT_OR_MERGE);

  /**
   * Finds a waiting or paused job that already covers the requested job: merging the two would change nothing. Returns its id, or undefined
   * if there is no such job. `startAt` is the earliest start of the requested job.
   */
  function findCoveringJob(job: NewJob, startAt: number): number | undefined {
    if (job.payload !== undefined || job.startDelayMs !== undefined) return undefined;
    const { dedupeKey, trigger, organizationId = null, installationId = null, onlyDuplicates = false } = job;
    const values = {
      dedupeKey,
      trigger,
      organizationId,
      installationId,
      onlyDuplicates: Number(onlyDuplicates),
      at: formatInstant(startAt),
    };
    return sufficientJob.get(values)?.id;
  }

  return (job, now) => {
    const { dedupeKey, trigger, organizationId = null, onlyDuplicates = false } = job;
    const dueJob = findCoveringJob(job, now);
    if (dueJob !== undefined) return dueJob;
    const startAt = findEarliestStart({ dedupeKey, onlyDuplicates }, now);
    const waitingJob = onlyDuplicates ? findCoveringJob(job, startAt) : undefined;
    if (waitingJob !== undefined) return waitingJob;
    const row = insert.get({
      kind: job.kind,
      organizationId,
      installationId: job.installationId ?? null,
      part: job.part ?? 'data',
      dedupeKey,
      trigger,
      payload: JSON.stringify(job.payload ?? {}),
      onlyDuplicates: Number(onlyDuplicates),
      runAt: formatInstant(Math.max(now + (job.startDelayMs ?? 0), startAt)),
      now: formatInstant(now),
      latest: formatInstant(now + MAX_BACKOFF_MS),
    });
    if (row === undefined) throw new Error(`expected a job for ${dedupeKey}, got none`);
    return row.id;
  };
}

/** The properties of a requested job on which its start time depends. */
interface StartRequest {
  readonly dedupeKey: string;
  readonly onlyDuplicates: boolean;
}

type DedupeKey = { readonly dedupeKey: string };

const FIND_LAST_START = prepared(({ db }, { dedupeKey }: Params<DedupeKey>) =>
  db
    .selectFrom('inbox.jobs')
    .select(({ fn }) => fn.max('started_at').as('startedAt'))
    .where('dedupe_key', '=', dedupeKey),
);
const job = tableRef('inbox.jobs');
/** Lists the latest reads of a job. A read was in vain if only duplicates requested it and it found nothing new. */
const LIST_RECENT_READS = prepared((_, { dedupeKey }: Params<DedupeKey>) => {
  const inVain = sql<number>`${job.only_duplicates_asked} AND ${job.outcome} = ${UNCHANGED_OUTCOME}`;
  return sqlStatement`SELECT ${select({ inVain })} FROM ${job()}
    WHERE ${job.dedupe_key} = ${dedupeKey} AND ${job.state} = 'done' AND ${job.started_at} IS NOT NULL AND ${job.outcome} <> 'merged'
    ORDER BY ${job.started_at} DESC LIMIT ${RECENT_READS}`;
});

/**
 * Creates a function that computes the earliest time, in epoch milliseconds, at which a requested job may start. Jobs with the same dedupe
 * key must start at least a certain time apart, see `choosePaceMs`.
 */
function createStartTimeFinder(db: Sqlite): (request: StartRequest, now: number) => number {
  // The pace does not depend on the signed text, so an attacker who replays several captured deliveries causes no more reads
  // than with one.
  const lastStart = prepareOn(db, FIND_LAST_START);
  const recentReads = prepareOn(db, LIST_RECENT_READS);

  return ({ dedupeKey, onlyDuplicates }, now) => {
    const last = lastStart.get({ dedupeKey })?.startedAt ?? null;
    if (last === null) return now;
    const inVain = () => recentReads.all({ dedupeKey }).map(read => read.inVain === 1);
    return computeStartTime(Date.parse(last), choosePaceMs(onlyDuplicates, inVain), now);
  };
}
