import { sql } from 'kysely';
import type { Lane } from '../database/inbox-tables.js';
import type { Sqlite } from '../database/open.js';
import { parameter, statement } from '../database/statement.js';
import { MAX_BACKOFF_MS } from './backoff.js';
import { mergePayloads, queries, raw, toInstant } from './queries.js';

export interface NewJob {
  readonly kind: string;
  /** At most one job with this key waits. */
  readonly dedupeKey: string;
  readonly trigger: string;
  readonly lane?: Lane;
  readonly installationId?: string | null;
  readonly organizationId?: string | null;
  readonly payload?: Readonly<Record<string, unknown>>;
  /** Not to be started before this instant (epoch ms); without it as soon as the pace allows. */
  readonly runAt?: number;
}

/** Two starts of one key are at least this far apart, so that a flood of deliveries is read once a second. */
export const START_PACE_MS = 1000;

export const INSTALLATION_JOB = 'installation';

/** What every delivery asks for, and the schedule too: look at this installation again. */
export function installationJob(
  installationId: string,
  organizationId: string | null,
  trigger: string,
): NewJob {
  return {
    kind: INSTALLATION_JOB,
    dedupeKey: `${INSTALLATION_JOB}:${installationId}`,
    trigger,
    installationId,
    organizationId,
  };
}

type InsertParameters = {
  kind: string;
  organizationId: string | null;
  installationId: string | null;
  lane: Lane;
  dedupeKey: string;
  trigger: string;
  payload: string;
  runAt: string;
  now: string;
  latest: string;
};

/**
 * Make sure that a job with this key will start after now, and answer its id. To be run inside `write`.
 *
 * It is merged with a waiting job, never with a claimed one, which may already have read what has changed since.
 * A parked job becomes ready: something has changed. A job that waits after a failure keeps its retry time, unless a
 * person asks, or it is so late that only a clock that was ahead can have given it.
 */
export function createEnqueue(db: Sqlite): (job: NewJob, now: number) => number {
  const lastStart = statement<{ dedupeKey: string }, { startedAt: string | null }>(
    db,
    queries
      .selectFrom('jobs')
      .where('dedupe_key', '=', parameter<string>('dedupeKey'))
      .select(expression => expression.fn.max('started_at').as('startedAt')),
  );
  const satisfied = statement<SatisfiedParameters, { id: number }>(db, findSatisfied());
  const insert = statement<InsertParameters, { id: number }>(db, insertOrMerge());

  return (job, now) => {
    const { dedupeKey, trigger, organizationId = null } = job;
    const addsNothing = job.payload === undefined && job.runAt === undefined;
    const due = addsNothing
      ? satisfied.get({ dedupeKey, trigger, organizationId, now: toInstant(now) })
      : undefined;
    if (due !== undefined) return due.id;
    const last = lastStart.get({ dedupeKey })?.startedAt ?? null;
    const row = insert.get({
      kind: job.kind,
      organizationId,
      installationId: job.installationId ?? null,
      lane: job.lane ?? 'data',
      dedupeKey,
      trigger,
      payload: JSON.stringify(job.payload ?? {}),
      runAt: toInstant(Math.max(job.runAt ?? now, paced(last, now))),
      now: toInstant(now),
      latest: toInstant(now + MAX_BACKOFF_MS),
    });
    if (row === undefined) throw new Error(`expected a job for ${dedupeKey}, got none`);
    return row.id;
  };
}

/** A last start that lies ahead of the clock (it was set back) delays by one pace at most. */
function paced(lastStart: string | null, now: number): number {
  if (lastStart === null) return now;
  return Math.min(Date.parse(lastStart) + START_PACE_MS, now + START_PACE_MS);
}

type SatisfiedParameters = { dedupeKey: string; trigger: string; organizationId: string | null; now: string };

/** A due job that merging would not change: in a flood most deliveries find one, and nothing is written. */
function findSatisfied() {
  return raw(sql<{ id: number }>`
    SELECT id FROM jobs
    WHERE dedupe_key = ${parameter('dedupeKey')} AND state IN ('ready', 'parked')
      AND state = 'ready' AND payload = '{}' AND run_at <= ${parameter('now')}
      AND trigger IN ('person', ${parameter('trigger')})
      AND coalesce(${parameter('organizationId')}, organization_id, '') = coalesce(organization_id, '')`);
}

function insertOrMerge() {
  const installation = parameter<string | null>('installationId');
  return raw(sql<{ id: number }>`
    INSERT INTO jobs (kind, organization_id, installation_id, lane, dedupe_key, trigger, payload, run_at, created_at)
    VALUES (
      ${parameter('kind')},
      coalesce(${parameter('organizationId')}, (
        SELECT organization_id FROM jobs
        WHERE installation_id = ${installation} AND organization_id IS NOT NULL LIMIT 1)),
      ${installation}, ${parameter('lane')}, ${parameter('dedupeKey')},
      ${parameter('trigger')}, ${parameter('payload')}, ${parameter('runAt')}, ${parameter('now')})
    ON CONFLICT (dedupe_key) WHERE state IN ('ready', 'parked') DO UPDATE SET
      state = 'ready',
      run_at = CASE
        WHEN jobs.state = 'ready' AND jobs.attempts > 0 AND excluded.trigger <> 'person'
          AND jobs.run_at <= ${parameter('latest')} THEN jobs.run_at
        ELSE min(jobs.run_at, excluded.run_at) END,
      attempts = iif(jobs.state = 'parked', 0, jobs.attempts),
      trigger = CASE
        WHEN 'person' IN (jobs.trigger, excluded.trigger) THEN 'person'
        WHEN excluded.trigger = 'delivery' OR jobs.trigger = 'schedule' THEN excluded.trigger
        ELSE jobs.trigger END,
      payload = ${mergePayloads(sql.ref('jobs.payload'), sql.ref('excluded.payload'))},
      organization_id = coalesce(excluded.organization_id, jobs.organization_id)
    RETURNING id`);
}
