/** Formats a number with commas between thousands, such as `63,304.5`. No digit changes; a number with an exponent gets no commas. */
export function formatWithCommas(number: string | number | bigint): string {
  const [whole = '', ...fraction] = String(number).split('.');
  return [whole.replace(/(?<=\d)(?=(?:\d{3})+$)/g, ','), ...fraction].join('.');
}

/** Formats a count with its noun: `1 job`, `2 jobs`. */
export function formatCount(count: number, singular: string, plural = pluralize(singular)): string {
  return `${formatWithCommas(count)} ${count === 1 ? singular : plural}`;
}

/** Returns the regular English plural of a noun. */
export function pluralize(singular: string): string {
  if (singular.endsWith('y')) return `${singular.slice(0, -1)}ies`;
  return singular.endsWith('s') ? `${singular}es` : `${singular}s`;
}

/** Formats the number of organizations that totals refer to: `the 4 known organizations`. */
export function formatKnownOrganizations(count: number): string {
  return `the ${formatCount(count, 'known organization')}`;
}

/** How many items of a longer list are shown to a person. */
export const MAX_SHOWN = 20;

/** Returns the note below a truncated list, such as `and 5 more`; null if the list was not truncated. */
export function formatOmittedCount(totalCount: number, limit = MAX_SHOWN): string | null {
  return totalCount > limit ? `and ${formatWithCommas(totalCount - limit)} more` : null;
}
