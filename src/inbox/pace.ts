/**
 * Two starts of one key are at least this far apart: a flood of deliveries is read once a second, and one that only
 * repeats ever more seldom while nothing new is found. 15 seconds, so that nothing comes to be stale.
 */
export const PACES_MS = [1000, 2000, 4000, 8000, 15_000] as const;
const [FIRST_MS] = PACES_MS;
const LONGEST_MS = 15_000;

/** So many of the latest reads decide the pace. */
export const READS_LOOKED_AT = PACES_MS.length - 1;

/** `inVain`: of the latest reads of the key, newest first, whether only duplicates asked for it and it found nothing new. */
export function paceOf(onlyDuplicatesAsked: boolean, inVain: () => readonly boolean[]): number {
  if (!onlyDuplicatesAsked) return FIRST_MS;
  const reads = inVain();
  const useful = reads.indexOf(false);
  return PACES_MS[useful === -1 ? reads.length : useful] ?? LONGEST_MS;
}

/** A last start that lies ahead of the clock (it was set back) delays by one pace at most. */
export function startAfter(lastStart: number | null, paceMs: number, now: number): number {
  return lastStart === null ? now : Math.max(now, Math.min(lastStart + paceMs, now + paceMs));
}
