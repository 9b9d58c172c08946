import { MAX_A_MINUTE, MAX_REJECTED, OTHER_PREFIX, type Rejected } from '../../../inbox/rejected.js';
import { AT, ms, type Perform } from './perform.js';

/** Adds to the counts of their minutes. Receivers count one after the other: how full a minute is decides of the next. */
export function createCountRejected({ perform }: Perform): (rejected: readonly Rejected[]) => Promise<void> {
  return async rejected => {
    if (rejected.length === 0) return;
    await perform([ALONE, ...rejected.map((_, place) => addStatement(place)), TRIM], { rejected });
  };
}

const ALONE = "SELECT '{}'::jsonb FROM pg_advisory_xact_lock(hashtextextended('inbox.rejected_webhooks', 0))";

const addStatement = (place: number): string => `
  WITH rejected AS (
    SELECT *, ${AT} - ${ms('"newestMsAgo"')} AS at FROM jsonb_to_record($1 -> 'rejected' -> ${place})
      AS r (reason text, status bigint, "headerPrefix" text, rejected bigint, "newestMsAgo" double precision)
  ),
  placed AS (
    SELECT *, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI') AS minute FROM rejected
  )
  INSERT INTO inbox.rejected_webhooks AS counted (minute, reason, status, header_prefix, rejected, newest_at)
  SELECT minute, reason, status, CASE WHEN fits THEN "headerPrefix" ELSE '${OTHER_PREFIX}' END, rejected, at
  FROM placed, LATERAL (
    SELECT count(*) < ${MAX_A_MINUTE} OR coalesce(bool_or((r.reason, r.status, r.header_prefix)
      = (placed.reason, placed.status, placed."headerPrefix")), false) AS fits
    FROM inbox.rejected_webhooks AS r WHERE r.minute = placed.minute
  ) AS place
  ON CONFLICT (minute, reason, status, header_prefix) DO UPDATE SET
    rejected = counted.rejected + excluded.rejected, newest_at = greatest(counted.newest_at, excluded.newest_at)
  RETURNING '{}'::jsonb`;

const TRIM = `
  DELETE FROM inbox.rejected_webhooks WHERE minute < (
    SELECT minute FROM inbox.rejected_webhooks ORDER BY minute DESC LIMIT 1 OFFSET ${MAX_REJECTED})
  RETURNING '{}'::jsonb`;
