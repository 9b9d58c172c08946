import type { Part } from '../../../inbox/job.js';
import { formatInstant } from '../../../resources/columns.js';
import type { Sqlite } from '../open.js';
import { statement } from '../statement.js';

const CLAIMABLE = `
  SELECT EXISTS (
    SELECT 1 FROM (
      SELECT * FROM jobs WHERE state = 'waiting' AND run_at <= @now
      UNION ALL SELECT * FROM jobs WHERE state = 'paused' AND run_at <= @now
      UNION ALL SELECT * FROM jobs WHERE state = 'running' AND claimed_until <= @now) AS due
    WHERE part = @part AND NOT EXISTS (
      SELECT 1 FROM jobs AS live WHERE live.state = 'running' AND live.claimed_until > @now
        AND live.part = due.part
        AND (live.installation_id = due.installation_id OR live.organization_id = due.organization_id))
  ) AS found`;

const NEXT_CHANGE = `
  SELECT min(at) AS at FROM (
    SELECT min(run_at) AS at FROM jobs WHERE state = 'waiting' AND run_at > @now
    UNION ALL SELECT min(run_at) FROM jobs WHERE state = 'paused' AND run_at > @now
    UNION ALL SELECT min(claimed_until) FROM jobs WHERE state = 'running' AND claimed_until > @now)`;

export type Waiting = ReturnType<typeof createWaiting>;

/** What a worker asks between two claims. Nothing here writes. */
export function createWaiting(db: Sqlite) {
  const claimable = statement<{ part: Part; now: string }, { found: number }>(db, CLAIMABLE);
  const next = statement<{ now: string }, { at: string | null }>(db, NEXT_CHANGE);
  const key = statement<{ dedupeKey: string; now: string }, { found: number }>(
    db,
    'SELECT EXISTS (SELECT 1 FROM jobs WHERE dedupe_key = @dedupeKey AND created_at <= @now) AS found',
  );

  return {
    /** Whether a claim in this part would find something: a due job that no live claim stands in the way of. */
    hasClaimable: (part: Part, at: number): boolean =>
      claimable.get({ part, now: formatInstant(at) })?.found === 1,
    /** The next instant after now at which a job becomes due or a lease runs out; null when there is none. */
    nextChangeAt: (at: number): number | null => {
      const instant = next.get({ now: formatInstant(at) })?.at ?? null;
      return instant === null ? null : Date.parse(instant);
    },
    /** Whether a job with this key was ever asked for and is still remembered; what is dated in the future does not count. */
    hasJobWithKey: (dedupeKey: string, at: number): boolean =>
      key.get({ dedupeKey, now: formatInstant(at) })?.found === 1,
  };
}
