/** When a refused event is sent again, and when its sender gives up. */

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const INTERVALS_MS = [
  5 * SECOND_MS,
  30 * SECOND_MS,
  2 * MINUTE_MS,
  5 * MINUTE_MS,
  15 * MINUTE_MS,
  30 * MINUTE_MS,
  HOUR_MS,
  2 * HOUR_MS,
  4 * HOUR_MS,
];
const LONGEST_MS = 4 * HOUR_MS;
const GIVE_UP_MS = 3 * 24 * HOUR_MS;

/** Returns the delay before the next attempt, after this number of failed attempts in a row. */
export function getRetryDelayMs(attempts: number): number {
  return INTERVALS_MS[attempts - 1] ?? LONGEST_MS;
}

/** Whether attempts have been failing for three days, so that the sender gives up. */
export function isGivenUp(failingSince: string, now: number): boolean {
  return now - Date.parse(failingSince) >= GIVE_UP_MS;
}
