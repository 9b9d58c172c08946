import type { ListChanges } from './port/rows.js';
import type { OpenSync, SyncCompletion } from './port/sync.js';

/**
 * Whether a commit ends a scheduled, complete read in which no row changed, so that it needs no row in `syncs`. `completion` is
 * null if the commit does not end the read.
 */
export function isUnchangedRead(
  sync: OpenSync,
  changes: ListChanges,
  completion: SyncCompletion | null,
): boolean {
  // Such a read gets no row in `syncs`, to save disk space.
  // A fleet that is read every few minutes would otherwise fill the disk. The series of unchanged reads of the list counts them.
  const { request, id, hasPartialRows, followsCompleteRead } = sync;
  const { inserts, removals, repairs, projects, unconfirmedRemovals } = changes;
  const hasChanges =
    inserts.length + removals.length + repairs.length + projects.length > 0 ||
    unconfirmedRemovals !== undefined;
  return (
    request.trigger === 'schedule' &&
    (request.cause?.newestDeliveryId ?? null) === null &&
    completion?.state === 'complete' &&
    completion.fault === null &&
    id === null &&
    followsCompleteRead &&
    !hasPartialRows &&
    !hasChanges
  );
}
