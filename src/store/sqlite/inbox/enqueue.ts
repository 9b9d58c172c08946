import { MAX_BACKOFF_MS } from '../../../inbox/backoff.js';
import { type Part, type NewJob, PRIORITIES } from '../../../inbox/job.js';
import { formatInstant } from '../../../resources/sql-values.js';
import { SQLITE } from '../../dialect.js';
import type { Sqlite } from '../open.js';
import { statement } from '../statement.js';
import { createPace } from './pace.js';

type InsertParameters = {
  kind: string;
  organizationId: string | null;
  installationId: string | null;
  part: Part;
  dedupeKey: string;
  trigger: string;
  payload: string;
  onlyDuplicates: number;
  runAt: string;
  now: string;
  latest: string;
};

type SatisfiedParameters = {
  dedupeKey: string;
  trigger: string;
  organizationId: string | null;
  installationId: string | null;
  onlyDuplicates: number;
  at: string;
};

/**
 * Make sure that a job with this key will start after now, and answer its id. To be run inside `write`.
 *
 * It is merged with a waiting job, never with a running one, which may already have read what has changed since.
 * A paused job waits again: something has changed. A job that waits after a failure keeps its retry time, unless a
 * person asks, or it is so late that only a clock that was ahead can have given it. Duplicates change neither.
 */
export function createEnqueue(db: Sqlite): (job: NewJob, now: number) => number {
  const pace = createPace(db);
  const satisfied = statement<SatisfiedParameters, { id: number }>(db, FIND_SATISFIED);
  const insert = statement<InsertParameters, { id: number }>(db, INSERT_OR_MERGE);

  function findDue(job: NewJob, at: number): number | undefined {
    if (job.payload !== undefined || job.startDelayMs !== undefined) return undefined;
    const { dedupeKey, trigger, organizationId = null, installationId = null, onlyDuplicates = false } = job;
    const asked = {
      dedupeKey,
      trigger,
      organizationId,
      installationId,
      onlyDuplicates: Number(onlyDuplicates),
      at: formatInstant(at),
    };
    return satisfied.get(asked)?.id;
  }

  return (job, now) => {
    const { dedupeKey, trigger, organizationId = null, onlyDuplicates = false } = job;
    const due = findDue(job, now);
    if (due !== undefined) return due;
    const startAt = pace({ dedupeKey, onlyDuplicates }, now);
    const waiting = onlyDuplicates ? findDue(job, startAt) : undefined;
    if (waiting !== undefined) return waiting;
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

/** A job due by then that merging would not change: in a flood most deliveries find one, and nothing is written. */
const FIND_SATISFIED = `
  SELECT id FROM jobs
  WHERE dedupe_key = @dedupeKey AND state IN ('waiting', 'paused') AND payload = '{}'
    AND ((state = 'waiting' AND run_at <= @at) OR (@onlyDuplicates AND (state = 'paused' OR attempts > 0)))
    AND (@onlyDuplicates OR NOT only_duplicates_asked)
    AND trigger IN ('person', @trigger)
    AND coalesce(@organizationId, organization_id, '') = coalesce(organization_id, '')
    AND coalesce(@installationId, installation_id, '') = coalesce(installation_id, '')`;

const INSERT_OR_MERGE = `
  INSERT INTO jobs (kind, organization_id, installation_id, part, dedupe_key, trigger, priority, payload,
    only_duplicates_asked, run_at, created_at)
  VALUES (
    @kind,
    coalesce(@organizationId, (
      SELECT organization_id FROM jobs
      WHERE installation_id = @installationId AND organization_id IS NOT NULL LIMIT 1)),
    @installationId, @part, @dedupeKey, @trigger,
    CASE
      WHEN @trigger = 'person' OR @installationId IS NULL THEN ${PRIORITIES.announced}
      WHEN NOT EXISTS (SELECT 1 FROM jobs WHERE dedupe_key = @dedupeKey AND started_at IS NOT NULL) THEN ${PRIORITIES.firstRead}
      WHEN @trigger = 'delivery' AND NOT @onlyDuplicates THEN ${PRIORITIES.announced}
      WHEN @trigger = 'schedule' OR @onlyDuplicates THEN ${PRIORITIES.scheduled}
      ELSE ${PRIORITIES.firstRead}
    END,
    @payload, @onlyDuplicates, @runAt, @now)
  ON CONFLICT (dedupe_key) WHERE state IN ('waiting', 'paused') DO UPDATE SET
    state = 'waiting',
    run_at = CASE
      WHEN jobs.state = 'waiting' AND jobs.attempts > 0 AND excluded.trigger <> 'person'
        AND jobs.run_at <= @latest THEN jobs.run_at
      ELSE min(jobs.run_at, excluded.run_at) END,
    attempts = iif(jobs.state = 'paused', 0, jobs.attempts),
    priority = min(jobs.priority, excluded.priority),
    trigger = CASE
      WHEN 'person' IN (jobs.trigger, excluded.trigger) THEN 'person'
      WHEN excluded.trigger = 'delivery' OR jobs.trigger = 'schedule' THEN excluded.trigger
      ELSE jobs.trigger END,
    only_duplicates_asked = CASE 'schedule'
      WHEN jobs.trigger THEN excluded.only_duplicates_asked
      WHEN excluded.trigger THEN jobs.only_duplicates_asked
      ELSE min(jobs.only_duplicates_asked, excluded.only_duplicates_asked) END,
    payload = ${SQLITE.mergedPayload('jobs.payload', 'excluded.payload')},
    organization_id = coalesce(excluded.organization_id, jobs.organization_id),
    installation_id = coalesce(excluded.installation_id, jobs.installation_id)
  RETURNING id`;
