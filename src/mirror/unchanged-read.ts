import type { ListChanges, OpenSync, SyncCompletion } from './port.js';

/**
 * Whether a commit ends a scheduled read that found nothing new. Such a read gets no row in `syncs`: it is counted in
 * the open span of its list, because a fleet that is read every few minutes would otherwise fill the disk with rows that
 * say the same. A read that a delivery or a person requested, that changed something, that failed, or that follows a
 * read which was not complete keeps its row.
 */
export function isUnchangedRead(
  sync: OpenSync,
  changes: ListChanges,
  completion: SyncCompletion | null,
): boolean {
  const { request, id, hasPartialRows, followsCompleteRead } = sync;
  const { inserts, closes, repairs, projects, doubt } = changes;
  const hasChanges =
    inserts.length + closes.length + repairs.length + projects.length > 0 || doubt !== undefined;
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
