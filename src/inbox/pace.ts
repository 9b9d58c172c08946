/**
 * Pacing: the shortest time between the starts of two jobs with the same dedupe key. New deliveries, however many, cause
 * one read a second. If only duplicates arrive and reads find nothing new, the pace slows to one read in 15 seconds.
 */
const MIN_PACE_MS = 1000;
const MAX_PACE_MS = 15_000;
export const PACES_MS = [MIN_PACE_MS, 2000, 4000, 8000, MAX_PACE_MS] as const;

/** How many of the latest jobs of a dedupe key decide its pace. */
export const RECENT_READS = PACES_MS.length - 1;

/**
 * Returns the minimum time between two starts of jobs with the same dedupe key. If only duplicate webhooks requested the job, the time
 * grows with each fruitless read: one that was requested only by duplicates and found nothing new. Only fruitless reads since the latest
 * other read count. `listFruitlessReads` returns one boolean for each recent read, newest first: true if the read was fruitless.
 */
export function choosePaceMs(onlyDuplicates: boolean, listFruitlessReads: () => readonly boolean[]): number {
  if (!onlyDuplicates) return MIN_PACE_MS;
  // One value per recent read, newest first: true if the read was for duplicates only and found nothing new.
  const fruitlessReads = listFruitlessReads();
  // The time grows with each fruitless read in a row.
  const firstFruitful = fruitlessReads.indexOf(false);
  const fruitlessInARow = firstFruitful === -1 ? fruitlessReads.length : firstFruitful;
  return PACES_MS[fruitlessInARow] ?? MAX_PACE_MS;
}

/**
 * Returns the earliest time at which the next job may start: `paceMs` after the last start, but not before `now`, and not later than
 * `paceMs` after `now`. If no job ever started (`lastStart` is null), returns `now`.
 */
export function computeStartTime(lastStart: number | null, paceMs: number, now: number): number {
  // The last start is in the future if the clock was set back. Then the job waits one pace at most.
  return lastStart === null ? now : Math.max(now, Math.min(lastStart + paceMs, now + paceMs));
}
