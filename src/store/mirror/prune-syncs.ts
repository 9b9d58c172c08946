import type { MirrorPort } from '../../mirror/port.js';
import { statement, type Database } from '../statement.js';

const SLICE = 500;

const OLD = statement<
  { after: string; id: number; before: string },
  { readonly id: number; readonly finished_at: string; readonly is_kept: number }
>(
  ({ asText }) => `
  SELECT id, finished_at, CASE WHEN rows_added + rows_changed + rows_removed > 0
      OR (state = 'complete' AND NOT EXISTS (
        SELECT 1 FROM mirror.syncs AS later
        WHERE later.organization_id IS NOT DISTINCT FROM r.organization_id AND later.resource = r.resource
          AND later.state = 'complete' AND later.id <> r.id
          AND (later.finished_at, later.id) > (r.finished_at, r.id)
          AND substr(${asText('later.finished_at')}, 1, 10) = substr(${asText('r.finished_at')}, 1, 10)))
      OR EXISTS (SELECT 1 FROM mirror.resource_states AS s
        WHERE s.organization_id = r.organization_id AND s.resource = r.resource
          AND r.started_at IN (s.as_of, s.attempted_at))
    THEN 1 ELSE 0 END AS is_kept
  FROM mirror.syncs AS r
  WHERE finished_at >= @after AND finished_at < @before AND (finished_at, id) > (@after, @id)
  ORDER BY finished_at, id LIMIT ${SLICE}`,
);
const REMOVE = statement<{ ids: string }, { id: number }>(
  ({ rows }) =>
    `DELETE FROM mirror.syncs WHERE id IN (SELECT old.id FROM ${rows('@ids', 'old', { id: 'int' })}) RETURNING id`,
);

/** Remembers since when all syncs are kept: one of that time which is missing was removed by hand. */
const NOTE = statement<{ before: string }>(
  `UPDATE mirror.origin SET syncs_kept_since_at = @before
   WHERE syncs_kept_since_at IS NULL OR syncs_kept_since_at < @before`,
);

/**
 * Removes syncs that ended before an instant, a few in one go. A sync that wrote rows is the proof of where they come from,
 * and the last complete one of a resource and a UTC day that of how they stood that day: both stay. The last complete and the
 * latest sync of each list stay, too.
 */
export function createPruneSyncs({ look, transact }: Database): MirrorPort['pruneSyncs'] {
  return async (before, { after, id }) => {
    const [old] = await look(OLD({ after, id, before }));
    const gone = old.filter(({ is_kept: isKept }) => isKept === 0).map(row => [row.id]);
    const [removed] =
      gone.length === 0
        ? [[]]
        : await transact(batch => batch(REMOVE({ ids: JSON.stringify(gone) }), NOTE({ before })));
    const end = old.length < SLICE ? undefined : old.at(-1);
    return {
      removed: removed.length,
      next: end === undefined ? null : { after: end.finished_at, id: end.id },
    };
  };
}
