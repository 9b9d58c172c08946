import { sql } from 'kysely';
import { type Sqlite, write } from '../open.js';
import { parameter, statement } from '../statement.js';
import { MAX_A_MINUTE, MAX_REFUSALS, OTHER_PREFIX, type Refusal } from '../../../inbox/refusal.js';
import { raw, toInstant } from './queries.js';

type Counted = { minute: string; reason: string; status: number; prefix: string };

/** Adds to the counts of their minutes, in one transaction. */
export function createCountRefusals(db: Sqlite): (refusals: readonly Refusal[]) => void {
  const place = statement<Counted, { known: number; rows: number }>(
    db,
    raw(sql<{ known: number; rows: number }>`
      SELECT count(*) AS rows, coalesce(sum(reason = ${parameter('reason')} AND status = ${parameter('status')}
        AND header_prefix = ${parameter('prefix')}), 0) AS known
      FROM refusals WHERE minute = ${parameter('minute')}`),
  );
  const add = statement<Counted & { posts: number; newestAt: string }>(
    db,
    raw(sql<never>`
      INSERT INTO refusals (minute, reason, status, header_prefix, posts, newest_at) VALUES (
        ${parameter('minute')}, ${parameter('reason')}, ${parameter('status')}, ${parameter('prefix')},
        ${parameter('posts')}, ${parameter('newestAt')})
      ON CONFLICT DO UPDATE SET posts = posts + excluded.posts, newest_at = max(newest_at, excluded.newest_at)`),
  );
  const trim = statement<Record<string, never>>(
    db,
    raw(sql<never>`DELETE FROM refusals WHERE minute < (
      SELECT minute FROM refusals ORDER BY minute DESC LIMIT 1 OFFSET ${sql.lit(MAX_REFUSALS)})`),
  );

  function count({ reason, status, headerPrefix, posts, newestAt }: Refusal): void {
    const at = toInstant(newestAt);
    const counted = { minute: at.slice(0, 'YYYY-MM-DDTHH:MM'.length), reason, status, prefix: headerPrefix };
    const { known = 0, rows = 0 } = place.get(counted) ?? {};
    const prefix = known > 0 || rows < MAX_A_MINUTE ? headerPrefix : OTHER_PREFIX;
    add.run({ ...counted, prefix, posts, newestAt: at });
  }

  return refusals => {
    write(db, () => {
      for (const refusal of refusals) count(refusal);
      trim.run({});
    });
  };
}
