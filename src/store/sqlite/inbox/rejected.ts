import { MAX_A_MINUTE, MAX_REJECTED, OTHER_PREFIX, type Rejected } from '../../../inbox/rejected.js';
import { formatInstant } from '../../../resources/columns.js';
import type { Sqlite } from '../open.js';
import { statement } from '../statement.js';

type Counted = { minute: string; reason: string; status: number; prefix: string };

/** Adds to the counts of their minutes. To be run inside `write`. */
export function createCountRejected(db: Sqlite): (rejected: readonly Rejected[], now: number) => void {
  const place = statement<Counted, { known: number; rows: number }>(
    db,
    `SELECT count(*) AS rows,
      coalesce(sum(reason = @reason AND status = @status AND header_prefix = @prefix), 0) AS known
    FROM rejected_webhooks WHERE minute = @minute`,
  );
  const add = statement<Counted & { rejected: number; newestAt: string }>(
    db,
    `INSERT INTO rejected_webhooks (minute, reason, status, header_prefix, rejected, newest_at)
    VALUES (@minute, @reason, @status, @prefix, @rejected, @newestAt)
    ON CONFLICT DO UPDATE SET rejected = rejected + excluded.rejected, newest_at = max(newest_at, excluded.newest_at)`,
  );
  const trim = statement<Record<string, never>>(
    db,
    `DELETE FROM rejected_webhooks WHERE minute < (
      SELECT minute FROM rejected_webhooks ORDER BY minute DESC LIMIT 1 OFFSET ${MAX_REJECTED})`,
  );

  function count({ reason, status, headerPrefix, rejected, newestMsAgo }: Rejected, now: number): void {
    const newestAt = formatInstant(now - newestMsAgo);
    const minute = newestAt.slice(0, 'YYYY-MM-DDTHH:MM'.length);
    const counted = { minute, reason, status, prefix: headerPrefix };
    const { known = 0, rows = 0 } = place.get(counted) ?? {};
    const prefix = known > 0 || rows < MAX_A_MINUTE ? headerPrefix : OTHER_PREFIX;
    add.run({ ...counted, prefix, rejected, newestAt });
  }

  return (rejected, now) => {
    for (const each of rejected) count(each, now);
    trim.run({});
  };
}
