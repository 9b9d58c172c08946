import { type Sqlite, write } from '../open.js';
import type { MirrorOperations } from './operations.js';

const SLICE = 500;

interface Old {
  readonly id: number;
  readonly finished_at: string;
  readonly is_kept: 0 | 1;
}

/**
 * Removes finished syncs that ended before an instant, a few in one go. A sync that wrote rows is the proof of
 * where they come from, and the last complete one of a resource and a UTC day that of how they stood that day: both stay.
 */
export function createPruneSyncs(db: Sqlite): MirrorOperations['pruneSyncs'] {
  const next = db.prepare<[{ after: string; id: number; before: string }], Old>(
    `SELECT id, finished_at,
       rows_added + rows_changed + rows_removed > 0 OR (state = 'complete' AND NOT EXISTS (
         SELECT 1 FROM syncs AS later
         WHERE later.organization_id IS r.organization_id AND later.resource = r.resource
           AND later.state = 'complete' AND later.id <> r.id
           AND (later.finished_at, later.id) > (r.finished_at, r.id)
           AND substr(later.finished_at, 1, 10) = substr(r.finished_at, 1, 10))) AS is_kept
     FROM syncs AS r
     WHERE finished_at >= @after AND finished_at < @before AND (finished_at, id) > (@after, @id)
     ORDER BY finished_at, id LIMIT ${SLICE}`,
  );
  const remove = db.prepare<[string]>('DELETE FROM syncs WHERE id IN (SELECT value FROM json_each(?))');

  return (before, from) => {
    const old = next.all({ ...from, before });
    const gone = old.filter(({ is_kept: isKept }) => isKept === 0).map(({ id }) => id);
    const removed = gone.length === 0 ? 0 : write(db, () => remove.run(JSON.stringify(gone)).changes);
    const end = old.length < SLICE ? undefined : old.at(-1);
    return { removed, next: end === undefined ? null : { after: end.finished_at, id: end.id } };
  };
}
