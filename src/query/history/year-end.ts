/** Returns the last day of the year before the year of `now`, such as `2025-12-31`. Returns null if that day had ended before `instant`. */
export function findLastYearEnd(instant: string, now: number): string | null {
  const day = `${new Date(now).getUTCFullYear() - 1}-12-31`;
  return `${day}T23:59:59.999Z` < instant ? null : day;
}
