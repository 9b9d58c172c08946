/**
 * The least time between two starts of jobs with one dedupe key. Under a flood of new deliveries a key is read once a second;
 * if only duplicates arrive and reads find nothing new, the pace slows to 15 seconds, which still keeps lists fresh.
 */
const MIN_PACE_MS = 1000;
const MAX_PACE_MS = 15_000;
export const PACES_MS = [MIN_PACE_MS, 2000, 4000, 8000, MAX_PACE_MS] as const;

/** How many of the latest reads of a key decide its pace. */
export const RECENT_READS = PACES_MS.length - 1;

/**
 * Returns the pace of a key, slower for each fruitless read in a row. `listFruitlessReads` tells for each recent read, newest
 * first, whether only duplicates had requested it and it found nothing new; it is called only if `onlyDuplicates` is set.
 */
export function choosePaceMs(onlyDuplicates: boolean, listFruitlessReads: () => readonly boolean[]): number {
  if (!onlyDuplicates) return MIN_PACE_MS;
  const fruitlessReads = listFruitlessReads();
  const firstFruitful = fruitlessReads.indexOf(false);
  const fruitlessInARow = firstFruitful === -1 ? fruitlessReads.length : firstFruitful;
  return PACES_MS[fruitlessInARow] ?? MAX_PACE_MS;
}

/** Returns when the next job of a key may start. A last start in the future (the clock was set back) delays it by one pace at most. */
export function computeStartTime(lastStart: number | null, paceMs: number, now: number): number {
  return lastStart === null ? now : Math.max(now, Math.min(lastStart + paceMs, now + paceMs));
}
