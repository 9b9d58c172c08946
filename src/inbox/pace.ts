/**
 * Two starts of one key are at least this far apart: a flood of deliveries is read once a second, and one that only
 * repeats ever more seldom while nothing new is found. 15 seconds, so that nothing comes to be stale.
 */
const MIN_PACE_MS = 1000;
const MAX_PACE_MS = 15_000;
export const PACES_MS = [MIN_PACE_MS, 2000, 4000, 8000, MAX_PACE_MS] as const;

/** So many of the latest reads decide the pace. */
export const RECENT_READS = PACES_MS.length - 1;

/** `inVain`: of the latest reads of the key, newest first, whether only duplicates asked for it and it found nothing new. */
export function paceOf(onlyDuplicates: boolean, inVain: () => readonly boolean[]): number {
  if (!onlyDuplicates) return MIN_PACE_MS;
  return PACES_MS[[...inVain(), false].indexOf(false)] ?? MAX_PACE_MS;
}

/** A last start that lies ahead of the clock (it was set back) delays by one pace at most. */
export function startAfter(lastStart: number | null, paceMs: number, now: number): number {
  return lastStart === null ? now : Math.max(now, Math.min(lastStart + paceMs, now + paceMs));
}
