const UNITS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** A stretch of time as a person says it: `42 s`, `5 min`, `3 h`, `2 d`. */
export function stretch(seconds: number): string {
  for (const [unit, size] of UNITS) {
    if (seconds >= 2 * size) return `${Math.floor(seconds / size)} ${unit}`;
  }
  return `${Math.max(0, Math.floor(seconds))} s`;
}

/** The stretch from an instant until now. */
export function since(instant: string, now: number): string {
  return stretch((now - Date.parse(instant)) / 1000);
}
