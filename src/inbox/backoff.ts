export const MAX_BACKOFF_MS = 15 * 60_000;

const FIRST_BACKOFF_MS = 1000;

/** Computes an exponential backoff of at most 15 minutes. `random` (0 to 1) adds jitter. */
export function computeBackoffMs(attempts: number, random: number): number {
  const maxDelayMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.max(0, attempts - 1));
  // Jitter: the delay is between half of the maximum and the maximum.
  return Math.round(maxDelayMs / 2 + (maxDelayMs / 2) * random);
}
