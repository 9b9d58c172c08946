export const MAX_BACKOFF_MS = 15 * 60_000;

const FIRST_BACKOFF_MS = 1000;

/**
 * Computes the delay before the next attempt: exponential backoff from one second to 15 minutes, with jitter.
 * `random` (0 to 1) picks a delay between half of the backoff and all of it, so that retries spread out.
 */
export function computeBackoffMs(attempts: number, random: number): number {
  const maxDelayMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.max(0, attempts - 1));
  return Math.round(maxDelayMs / 2 + (maxDelayMs / 2) * random);
}
