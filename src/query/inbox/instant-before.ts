export const MINUTE_MS = 60_000;

/** Returns the instant that is `ms` milliseconds before `now`. */
export function instantBefore(now: number, ms: number): string {
  return new Date(now - ms).toISOString();
}
