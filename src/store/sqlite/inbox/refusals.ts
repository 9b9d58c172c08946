import { MAX_A_MINUTE, MAX_REFUSALS, OTHER_PREFIX, type Refusal } from '../../../inbox/refusal.js';
import { formatInstant } from '../../../resources/columns.js';
import type { Sqlite } from '../open.js';
import { statement } from '../statement.js';

type Counted = { minute: string; reason: string; status: number; prefix: string };

/** Adds to the counts of their minutes. To be run inside `write`. */
export function createCountRefusals(db: Sqlite): (refusals: readonly Refusal[], now: number) => void {
  const place = statement<Counted, { known: number; rows: number }>(
    db,
    `SELECT count(*) AS rows,
      coalesce(sum(reason = @reason AND status = @status AND header_prefix = @prefix), 0) AS known
    FROM refusals WHERE minute = @minute`,
  );
  const add = statement<Counted & { posts: number; newestAt: string }>(
    db,
    `INSERT INTO refusals (minute, reason, status, header_prefix, posts, newest_at)
    VALUES (@minute, @reason, @status, @prefix, @posts, @newestAt)
    ON CONFLICT DO UPDATE SET posts = posts + excluded.posts, newest_at = max(newest_at, excluded.newest_at)`,
  );
  const trim = statement<Record<string, never>>(
    db,
    `DELETE FROM refusals WHERE minute < (
      SELECT minute FROM refusals ORDER BY minute DESC LIMIT 1 OFFSET ${MAX_REFUSALS})`,
  );

  function count({ reason, status, headerPrefix, posts, newestMsAgo }: Refusal, now: number): void {
    const newestAt = formatInstant(now - newestMsAgo);
    const minute = newestAt.slice(0, 'YYYY-MM-DDTHH:MM'.length);
    const counted = { minute, reason, status, prefix: headerPrefix };
    const { known = 0, rows = 0 } = place.get(counted) ?? {};
    const prefix = known > 0 || rows < MAX_A_MINUTE ? headerPrefix : OTHER_PREFIX;
    add.run({ ...counted, prefix, posts, newestAt });
  }

  return (refusals, now) => {
    for (const refusal of refusals) count(refusal, now);
    trim.run({});
  };
}
