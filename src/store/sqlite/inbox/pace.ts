import type { Sqlite } from '../open.js';
import { UNCHANGED_OUTCOME } from '../../../inbox/job.js';
import { choosePaceMs, RECENT_READS, computeStartTime } from '../../../inbox/pace.js';
import { statement } from '../statement.js';

export interface Asked {
  readonly dedupeKey: string;
  readonly onlyDuplicates: boolean;
}

/**
 * When a job may start. The pace belongs to the job and not to a text: whoever has captured three deliveries
 * gets no more reads than with one.
 */
export function createPace(db: Sqlite): (asked: Asked, now: number) => number {
  const lastStart = statement<{ dedupeKey: string }, { startedAt: string | null }>(
    db,
    'SELECT max(started_at) AS startedAt FROM jobs WHERE dedupe_key = @dedupeKey',
  );
  const latest = statement<{ dedupeKey: string }, { inVain: number }>(
    db,
    `SELECT only_duplicates_asked AND outcome = '${UNCHANGED_OUTCOME}' AS inVain FROM jobs
    WHERE dedupe_key = @dedupeKey AND state = 'done' AND started_at IS NOT NULL AND outcome <> 'merged'
    ORDER BY started_at DESC LIMIT ${RECENT_READS}`,
  );

  return ({ dedupeKey, onlyDuplicates }, now) => {
    const last = lastStart.get({ dedupeKey })?.startedAt ?? null;
    if (last === null) return now;
    const inVain = () => latest.all({ dedupeKey }).map(read => read.inVain === 1);
    return computeStartTime(Date.parse(last), choosePaceMs(onlyDuplicates, inVain), now);
  };
}
