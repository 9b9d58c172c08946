import { setImmediate as pause } from 'node:timers/promises';
import { type Sqlite, write } from '../database/open.js';
import { formatInstant } from './columns.js';

const SLICE = 500;
const DAY_MS = 86_400_000;

interface Old {
  readonly id: number;
  readonly finished_at: string;
  readonly is_kept: 0 | 1;
}

/**
 * Removes finished sync runs that ended before an instant; answers how many went. A run that wrote rows is the proof of
 * where they come from, and the last complete one of a resource and a UTC day that of how they stood that day: both stay.
 */
export function createPruneRuns(db: Sqlite): (before: number) => Promise<number> {
  const next = db.prepare<[{ after: string; id: number; before: string }], Old>(
    `SELECT id, finished_at,
       rows_added + rows_changed + rows_removed > 0 OR (state = 'complete' AND NOT EXISTS (
         SELECT 1 FROM sync_runs AS later
         WHERE later.organization_id IS r.organization_id AND later.resource = r.resource
           AND later.state = 'complete' AND later.id <> r.id
           AND (later.finished_at, later.id) > (r.finished_at, r.id)
           AND substr(later.finished_at, 1, 10) = substr(r.finished_at, 1, 10))) AS is_kept
     FROM sync_runs AS r
     WHERE finished_at >= @after AND finished_at < @before AND (finished_at, id) > (@after, @id)
     ORDER BY finished_at, id LIMIT ${SLICE}`,
  );
  const remove = db.prepare<[string]>('DELETE FROM sync_runs WHERE id IN (SELECT value FROM json_each(?))');
  /** Everything that ended earlier was looked at already. */
  let from = '';

  return async before => {
    const bound = formatInstant(before);
    let removed = 0;
    let last: { readonly after: string; readonly id: number } = { after: from, id: 0 };
    for (;;) {
      const old = next.all({ ...last, before: bound });
      const gone = old.filter(({ is_kept: isKept }) => isKept === 0).map(({ id }) => id);
      if (gone.length > 0) removed += write(db, () => remove.run(JSON.stringify(gone)).changes);
      const end = old.at(-1);
      if (end === undefined || old.length < SLICE) break;
      last = { after: end.finished_at, id: end.id };
      await pause();
    }
    from = formatInstant(before - DAY_MS);
    return removed;
  };
}
