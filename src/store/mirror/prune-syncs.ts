import type { MirrorPort, PrunePosition } from '../../mirror/port.js';
import { fixed, statement, type Database } from '../statement.js';

const START_OF_TIME = '0001-01-01T00:00:00.000Z';
/** So few that their removal holds the writer for some milliseconds. */
const SLICE = 500;

/** The end of the next complete read of the same list, found by the index of complete reads. */
const NEXT_COMPLETE = `(SELECT later.finished_at FROM mirror.syncs AS later
  WHERE later.organization_id = r.organization_id AND later.resource = r.resource AND later.state = 'complete'
    AND (later.finished_at, later.id) > (r.finished_at, r.id)
  ORDER BY later.finished_at, later.id LIMIT 1)`;

/** Returns SQL for the UTC day of an instant that is text. */
function day(instant: string): string {
  return `substr(${instant}, 1, 10)`;
}

const OLD = statement<
  { after: string; id: number; before: string },
  { readonly id: number; readonly finished_at: string; readonly is_kept: number }
>(
  ({ asText }) => `
  SELECT id, finished_at, CASE WHEN rows_added + rows_changed + rows_removed > 0
      OR (state = 'complete' AND coalesce(${day(asText(NEXT_COMPLETE))}, '') <> ${day(asText('r.finished_at'))})
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

const READ_CHECKED = fixed<{ readonly syncs_checked_until_at: string | null }>(
  'SELECT syncs_checked_until_at FROM mirror.origin',
);
const SAVE_CHECKED = statement<{ until: string }>(
  `UPDATE mirror.origin SET syncs_checked_until_at = @until
   WHERE syncs_checked_until_at IS NULL OR syncs_checked_until_at < @until`,
);

/** Remembers since when all syncs are kept: one of that time which is missing was removed by hand. */
const NOTE = statement<{ before: string }>(
  `UPDATE mirror.origin SET syncs_kept_since_at = @before
   WHERE syncs_kept_since_at IS NULL OR syncs_kept_since_at < @before`,
);

/**
 * Removes syncs that ended before an instant, a few at a time. A sync that wrote rows proves where they come from, and the
 * last complete sync of a list on a UTC day how the list stood that day: both stay. So do the last complete and the latest
 * sync of each list. What was checked once is not checked again, also after a restart.
 */
export function createSyncPruning({ look, transact }: Database): Pick<MirrorPort, 'pruneSyncs'> {
  async function readStart(): Promise<PrunePosition> {
    const [[origin]] = await look(READ_CHECKED);
    return { after: origin?.syncs_checked_until_at ?? START_OF_TIME, id: 0 };
  }

  return {
    pruneSyncs: async ({ endedBefore, settledBefore, position }) => {
      const { after, id } = position ?? (await readStart());
      const [old] = await look(OLD({ after, id, before: endedBefore }));
      const gone = old.filter(({ is_kept: isKept }) => isKept === 0).map(row => [row.id]);
      const end = old.length < SLICE ? undefined : old.at(-1);
      const until = end === undefined || end.finished_at > settledBefore ? settledBefore : end.finished_at;
      const [removed] = await transact(batch =>
        gone.length === 0
          ? batch(null, null, SAVE_CHECKED({ until }))
          : batch(
              REMOVE({ ids: JSON.stringify(gone) }),
              NOTE({ before: endedBefore }),
              SAVE_CHECKED({ until }),
            ),
      );
      return {
        removed: removed.length,
        next: end === undefined ? null : { after: end.finished_at, id: end.id },
      };
    },
  };
}
