import { sql } from 'kysely';
import type { Sqlite } from '../open.js';
import { parameter, statement } from '../statement.js';
import { UNCHANGED } from '../../../inbox/job.js';
import { raw } from './queries.js';

/**
 * Two starts of one key are at least this far apart: a flood of deliveries is read once a second, and one that only
 * repeats ever more seldom while nothing new is found. 15 seconds, so that nothing comes to be behind.
 */
const PACES_MS = [1000, 2000, 4000, 8000, 15_000] as const;
const [FIRST_MS] = PACES_MS;
const LONGEST_MS = 15_000;

export interface Asked {
  readonly dedupeKey: string;
  readonly repeatsOnly: boolean;
}

/**
 * When a job may start. The pace belongs to the job and not to a text: whoever has captured three deliveries
 * gets no more reads than with one.
 */
export function createPace(db: Sqlite): (asked: Asked, now: number) => number {
  const key = parameter('dedupeKey');
  const lastStart = statement<{ dedupeKey: string }, { startedAt: string | null }>(
    db,
    raw(sql<{ startedAt: string | null }>`
      SELECT max(started_at) AS startedAt FROM jobs WHERE dedupe_key = ${key}`),
  );
  const latest = statement<{ dedupeKey: string }, { inVain: number }>(
    db,
    raw(sql<{ inVain: number }>`
      SELECT repeats_only AND outcome = ${sql.lit(UNCHANGED)} AS inVain FROM jobs
      WHERE dedupe_key = ${key} AND state = 'done' AND started_at IS NOT NULL AND outcome <> 'merged'
      ORDER BY started_at DESC LIMIT ${sql.lit(PACES_MS.length - 1)}`),
  );

  function paceOf({ dedupeKey, repeatsOnly }: Asked): number {
    if (!repeatsOnly) return FIRST_MS;
    const reads = latest.all({ dedupeKey });
    const useful = reads.findIndex(({ inVain }) => inVain !== 1);
    return PACES_MS[useful === -1 ? reads.length : useful] ?? LONGEST_MS;
  }

  return (asked, now) => {
    const last = lastStart.get({ dedupeKey: asked.dedupeKey })?.startedAt ?? null;
    if (last === null) return now;
    const paceMs = paceOf(asked);
    /** A last start that lies ahead of the clock (it was set back) delays by one pace at most. */
    return Math.max(now, Math.min(Date.parse(last) + paceMs, now + paceMs));
  };
}
