import type { MirrorPort } from '../../../mirror/port.js';
import type { Postgres } from '../open.js';

const SLICE = 500;

/**
 * Removes finished syncs that ended before an instant, a few in one go. A sync that wrote rows is the proof of
 * where they come from, and the last complete one of a resource and a UTC day that of how they stood that day: both stay.
 */
export function createPruneSyncs({ query }: Postgres): MirrorPort['pruneSyncs'] {
  return async (before, { after, id }) => {
    const [found] = await query<{ looked: number; removed: number; id: number; at: string }>(
      `WITH old AS (
         SELECT id, finished_at, rows_added + rows_changed + rows_removed > 0
           OR (state = 'complete' AND NOT EXISTS (
             SELECT 1 FROM mirror.syncs AS later
             WHERE later.organization_id IS NOT DISTINCT FROM r.organization_id AND later.resource = r.resource
               AND later.state = 'complete' AND later.id <> r.id
               AND (later.finished_at, later.id) > (r.finished_at, r.id)
               AND (later.finished_at AT TIME ZONE 'UTC')::date = (r.finished_at AT TIME ZONE 'UTC')::date)) AS is_kept
         FROM mirror.syncs AS r
         WHERE finished_at < $1 AND (finished_at, id) > ($2, $3::bigint)
         ORDER BY finished_at, id LIMIT ${SLICE}
       ),
       removed AS (
         DELETE FROM mirror.syncs WHERE id IN (SELECT id FROM old WHERE NOT is_kept) RETURNING id
       )
       SELECT (SELECT count(*) FROM old) AS looked, (SELECT count(*) FROM removed) AS removed,
         last.id, last.finished_at AS at
       FROM (SELECT 1) AS one LEFT JOIN
         (SELECT * FROM old ORDER BY finished_at DESC, id DESC LIMIT 1) AS last ON true`,
      [before, after === '' ? '-infinity' : after, id],
    );
    const { looked = 0, removed = 0 } = found ?? {};
    return { removed, next: found && looked === SLICE ? { after: found.at, id: found.id } : null };
  };
}
