import { MAX_A_MINUTE, MAX_REFUSALS, OTHER_PREFIX, type Refusal } from '../../../inbox/refusal.js';
import { AT, ms, type Perform } from './perform.js';

/** Adds to the counts of their minutes. Receivers count one after the other: how full a minute is decides of the next. */
export function createCountRefusals({ perform }: Perform): (refusals: readonly Refusal[]) => Promise<void> {
  return async refusals => {
    if (refusals.length === 0) return;
    await perform([ALONE, ...refusals.map((_, place) => addStatement(place)), TRIM], { refusals });
  };
}

const ALONE = "SELECT '{}'::jsonb FROM pg_advisory_xact_lock(hashtextextended('inbox.refusals', 0))";

const addStatement = (place: number): string => `
  WITH refusal AS (
    SELECT *, ${AT} - ${ms('"newestMsAgo"')} AS at FROM jsonb_to_record($1 -> 'refusals' -> ${place})
      AS r (reason text, status bigint, "headerPrefix" text, posts bigint, "newestMsAgo" double precision)
  ),
  placed AS (
    SELECT *, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI') AS minute FROM refusal
  )
  INSERT INTO inbox.refusals AS counted (minute, reason, status, header_prefix, posts, newest_at)
  SELECT minute, reason, status, CASE WHEN fits THEN "headerPrefix" ELSE '${OTHER_PREFIX}' END, posts, at
  FROM placed, LATERAL (
    SELECT count(*) < ${MAX_A_MINUTE} OR coalesce(bool_or((r.reason, r.status, r.header_prefix)
      = (placed.reason, placed.status, placed."headerPrefix")), false) AS fits
    FROM inbox.refusals AS r WHERE r.minute = placed.minute
  ) AS place
  ON CONFLICT (minute, reason, status, header_prefix) DO UPDATE SET
    posts = counted.posts + excluded.posts, newest_at = greatest(counted.newest_at, excluded.newest_at)
  RETURNING '{}'::jsonb`;

const TRIM = `
  DELETE FROM inbox.refusals WHERE minute < (
    SELECT minute FROM inbox.refusals ORDER BY minute DESC LIMIT 1 OFFSET ${MAX_REFUSALS})
  RETURNING '{}'::jsonb`;
