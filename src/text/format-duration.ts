const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** A stretch of time as a person says it: `42 s`, `5 min`, `3 h`, `2 d`. */
export function formatDuration(seconds: number): string {
  for (const [unit, size] of UNITS) {
    if (seconds >= 2 * size) return `${Math.floor(seconds / size)} ${unit}`;
  }
  return `${Math.max(0, Math.floor(seconds))} s`;
}

/** The stretch from an instant until now. */
export function formatAge(instant: string, now: number): string {
  return formatDuration((now - Date.parse(instant)) / 1000);
}
