import type { Sqlite } from '../engines/sqlite/open.js';

export interface Target {
  readonly installationId: string;
  readonly organizationId: string | null;
  readonly state: string;
}

/** Installations that can be asked: all that are not uninstalled, or those of one organization. */
export function readTargets(db: Sqlite, organizationId: string | null): Target[] {
  return db
    .prepare<[object], Target>(
      `SELECT id AS installationId, organization_id AS organizationId, state FROM installations
      WHERE (@organizationId IS NULL AND state <> 'uninstalled') OR organization_id = @organizationId
      ORDER BY organization_id, id`,
    )
    .all({ organizationId });
}

/** Where the tables stood when the work was asked for. */
export interface Mark {
  readonly job: number;
  readonly run: number;
  readonly at: string;
}

export function readMark(db: Sqlite, now: number): Mark {
  const row = db
    .prepare<[], { job: number; run: number }>(
      `SELECT (SELECT coalesce(max(id), 0) FROM inbox.jobs) AS job,
        (SELECT coalesce(max(id), 0) FROM sync_runs) AS run`,
    )
    .get();
  return { job: row?.job ?? 0, run: row?.run ?? 0, at: new Date(now).toISOString() };
}

export interface Followed {
  readonly id: number;
  readonly kind: string;
  readonly state: string;
  readonly organizationId: string | null;
  readonly installationId: string | null;
  readonly attempts: number;
  readonly startedAt: string | null;
  readonly runAt: string;
  readonly errorCode: string | null;
  readonly error: string | null;
}

export interface Asked {
  readonly mark: Mark;
  readonly jobs: readonly number[];
  /** Null for all organizations, and what is found on the way. */
  readonly organizationId: string | null;
}

/** A job whose like has started a moment ago begins so much later. */
const PACE_MS = 1000;

const COLUMNS = `id, kind, state, organization_id AS organizationId, installation_id AS installationId, attempts,
  started_at AS startedAt, run_at AS runAt, last_error_code AS errorCode, last_error AS error`;

/**
 * The jobs that were asked for, those that took over from them, looks at installations that were found on the way,
 * and the certificates that are being fetched for them.
 */
export function readFollowed(db: Sqlite, { mark, jobs, organizationId }: Asked, now: number): Followed[] {
  return db
    .prepare<[object], Followed>(
      `WITH RECURSIVE ours (id) AS (
        SELECT value FROM json_each(@jobs)
        UNION
        SELECT j.merged_into FROM ours JOIN inbox.jobs AS j ON j.id = ours.id WHERE j.merged_into IS NOT NULL
      )
      SELECT ${COLUMNS} FROM inbox.jobs WHERE id IN (SELECT id FROM ours) AND merged_into IS NULL
      UNION
      SELECT ${COLUMNS} FROM inbox.jobs
      WHERE id > @job AND kind = 'installation' AND trigger = 'schedule' AND @organizationId IS NULL
        AND run_at <= @now
      UNION
      SELECT ${COLUMNS} FROM (
        SELECT * FROM inbox.jobs WHERE state = 'ready' AND run_at <= @soon
        UNION ALL SELECT * FROM inbox.jobs WHERE state = 'claimed'
      ) WHERE kind = 'certificates' AND (@organizationId IS NULL OR organization_id = @organizationId)
      ORDER BY id`,
    )
    .all({
      jobs: JSON.stringify(jobs),
      job: mark.job,
      organizationId,
      now: new Date(now).toISOString(),
      soon: new Date(now + PACE_MS).toISOString(),
    });
}

/** Whether some worker holds a lease on anything. */
export function isAnybodyAtWork(db: Sqlite, now: number): boolean {
  return (
    db
      .prepare<[string], number>(
        "SELECT EXISTS (SELECT 1 FROM inbox.jobs WHERE state = 'claimed' AND claimed_until > ?)",
      )
      .pluck()
      .get(new Date(now).toISOString()) === 1
  );
}

export interface Progress {
  /** Rows that were compared with the mirror's so far. */
  readonly rows: number;
  /** Resources that were read, or need not be, of so many. */
  readonly reads: number;
  readonly allReads: number;
  readonly certificatesDue: number;
}

export function readProgress(db: Sqlite, { mark, organizationId }: Asked, now: number): Progress {
  const row = db
    .prepare<[object], Progress>(
      `SELECT
        (SELECT coalesce(sum(rows_added + rows_changed + rows_removed + rows_unchanged), 0) FROM sync_runs
          WHERE id > @run AND (@organizationId IS NULL OR organization_id = @organizationId)) AS rows,
        (SELECT count(*) FROM resource_states
          WHERE (attempted_at >= @at OR forbidden_at IS NOT NULL) AND resource <> 'certificates'
            AND (@organizationId IS NULL OR organization_id = @organizationId)) AS reads,
        (SELECT count(*) FROM resource_states
          WHERE resource <> 'certificates'
            AND (@organizationId IS NULL OR organization_id = @organizationId)) AS allReads,
        (SELECT count(*) FROM certificates
          WHERE due_at <= @now AND (@organizationId IS NULL OR organization_id = @organizationId)) AS certificatesDue`,
    )
    .get({ run: mark.run, at: mark.at, now: new Date(now).toISOString(), organizationId });
  return row ?? { rows: 0, reads: 0, allReads: 0, certificatesDue: 0 };
}

export interface EndedRun {
  readonly id: number;
  readonly organization: string;
  readonly resource: string;
  readonly state: string;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
  readonly error: string | null;
}

/** Runs that ended after the mark and were not told yet. */
export function readEndedRuns(db: Sqlite, { mark, organizationId }: Asked): EndedRun[] {
  return db
    .prepare<[object], EndedRun>(
      `SELECT s.id, coalesce(o.full_name, s.organization_id, '') AS organization, s.resource, s.state,
        s.rows_added AS added, s.rows_changed AS changed, s.rows_removed AS removed, s.rows_unchanged AS unchanged,
        s.error
      FROM sync_runs AS s LEFT JOIN organizations AS o ON o.id = s.organization_id
      WHERE s.id > @run AND s.state <> 'running' AND (@organizationId IS NULL OR s.organization_id = @organizationId)
      ORDER BY s.id`,
    )
    .all({ run: mark.run, organizationId });
}

export interface Synced {
  readonly organization_id: string;
  readonly organization: string;
  readonly resource: string;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly unchanged: number;
  /** As freshness has it, or `not_read` where it was not asked for this time and nothing else is wrong. */
  readonly state: string;
  readonly error: string | null;
  /** Whether the registry refused it although the installation permits it. */
  readonly refused: boolean;
}

export const SYNCED_COLUMNS = [
  'organization',
  'resource',
  'added',
  'changed',
  'removed',
  'unchanged',
  'state',
  'error',
] as const;

/** What became of each resource since the mark; an organization that is gone is left out unless it was named. */
export function readSynced(
  db: Sqlite,
  { mark, organizationId }: Asked,
  resources: readonly string[],
): Synced[] {
  return db
    .prepare<[object], Omit<Synced, 'refused'> & { readonly refused: number }>(
      `SELECT f.organization_id, coalesce(o.full_name, f.organization_id) AS organization, f.resource,
        coalesce(sum(s.rows_added), 0) AS added, coalesce(sum(s.rows_changed), 0) AS changed,
        coalesce(sum(s.rows_removed), 0) AS removed, coalesce(max(s.rows_unchanged), 0) AS unchanged,
        iif(f.state IN ('current', 'behind', 'late') AND f.attempted_at < @at, 'not_read', f.state) AS state,
        f.error,
        f.state = 'forbidden' AND r.error_code IS 'forbidden' AS refused
      FROM freshness AS f
      JOIN resource_states AS r ON r.organization_id = f.organization_id AND r.resource = f.resource
      LEFT JOIN organizations AS o ON o.id = f.organization_id
      LEFT JOIN sync_runs AS s
        ON s.organization_id = f.organization_id AND s.resource = f.resource AND s.id > @run
      WHERE (f.organization_id = @organizationId OR (@organizationId IS NULL AND f.state <> 'uninstalled'))
        AND f.resource IN (SELECT value FROM json_each(@resources))
      GROUP BY f.organization_id, f.resource
      ORDER BY organization, f.organization_id,
        (SELECT key FROM json_each(@resources) WHERE value = f.resource)`,
    )
    .all({ run: mark.run, at: mark.at, organizationId, resources: JSON.stringify(resources) })
    .map(row => ({ ...row, refused: row.refused === 1 }));
}
