export const MAX_BACKOFF_MS = 15 * 60_000;

const FIRST_BACKOFF_MS = 1000;

/**
 * How long to wait after the given number of attempts: doubled each time up to 15 minutes,
 * of which at least half is waited, and the rest is shared out by `random` (0 to 1) so that retries spread.
 */
export function backoffMs(attempts: number, random: number): number {
  const full = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.max(0, attempts - 1));
  return Math.round(full / 2 + (full / 2) * random);
}
