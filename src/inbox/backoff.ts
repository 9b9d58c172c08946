/**
 * The longest delay before the next attempt of a job. A waiting job that is due later than this was dated by a wrong clock, so a new
 * request for it may move it forward.
 */
export const MAX_BACKOFF_MS = 15 * 60_000;

const FIRST_BACKOFF_MS = 1000;

/** Computes the delay before the next attempt: exponential, with jitter, at most `MAX_BACKOFF_MS`. `random` is between 0 and 1. */
export function computeBackoffMs(attempts: number, random: number): number {
  const maxDelayMs = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** Math.max(0, attempts - 1));
  // Jitter: the delay is between half of the maximum and the maximum.
  return Math.round(maxDelayMs / 2 + (maxDelayMs / 2) * random);
}
