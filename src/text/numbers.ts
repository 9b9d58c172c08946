/** Formats a number with commas between thousands: `63304.50` → `63,304.50`. */
export function formatWithCommas(number: string | number | bigint): string {
  const [whole = '', ...fraction] = String(number).split('.');
  return [whole.replace(/(?<=\d)(?=(?:\d{3})+$)/g, ','), ...fraction].join('.');
}

/** Formats a count with a noun: `1 job`, `2 jobs`. */
export function formatCount(count: number, singular: string, plural = pluralize(singular)): string {
  return `${formatWithCommas(count)} ${count === 1 ? singular : plural}`;
}

/** Returns the plural of a regular English noun. */
export function pluralize(singular: string): string {
  if (singular.endsWith('y')) return `${singular.slice(0, -1)}ies`;
  return singular.endsWith('s') ? `${singular}es` : `${singular}s`;
}

/** Formats a number of organizations as `the 4 known organizations`. */
export function formatKnownOrganizations(count: number): string {
  return `the ${formatCount(count, 'known organization')}`;
}

/** How many items of a longer list are shown to a person. */
export const MAX_SHOWN = 20;

/** Returns a note for a truncated list, such as `and 5 more`. Returns null if all items are shown. */
export function formatOmittedCount(totalCount: number, limit = MAX_SHOWN): string | null {
  return totalCount > limit ? `and ${formatWithCommas(totalCount - limit)} more` : null;
}
