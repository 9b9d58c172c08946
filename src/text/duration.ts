import { formatCount } from './numbers.js';

const MS_PER_UNIT: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};

/** Parses a duration such as `500ms`, `30s`, `10m`, `2h` or `1d` to milliseconds. Returns null for any other text. */
export function parseDuration(text: string): number | null {
  const [, number = '', unit = ''] = /^(\d+(?:\.\d+)?)(ms|s|m|min|h|d)$/.exec(text) ?? [];
  const msPerUnit = MS_PER_UNIT[unit];
  return msPerUnit === undefined ? null : Math.round(Number(number) * msPerUnit);
}

const UNITS_IN_SECONDS = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
] as const;

/** Formats a duration in a suitable unit: 42 → `42 s`, 300 → `5 min`, 7200 → `2 h`. */
export function formatDuration(seconds: number): string {
  for (const [unit, secondsPerUnit] of UNITS_IN_SECONDS) {
    if (seconds >= 2 * secondsPerUnit) return `${Math.floor(seconds / secondsPerUnit)} ${unit}`;
  }
  return `${Math.max(0, Math.floor(seconds))} s`;
}

/** Formats how long ago an instant was, such as `5 min`. `now` is in epoch milliseconds. */
export function formatAge(instant: string, now: number): string {
  return formatDuration((now - Date.parse(instant)) / 1000);
}

/** Formats an estimated duration in words, such as `less than a minute` or `about 6 minutes`. */
export function formatEstimate(seconds: number): string {
  if (seconds < 60) return 'less than a minute';
  const minutes = Math.round(seconds / 60);
  return `about ${minutes < 120 ? formatCount(minutes, 'minute') : formatCount(Math.round(minutes / 60), 'hour')}`;
}
