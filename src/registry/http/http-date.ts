const IMF_FIXDATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/**
 * Reads the one form in which HTTP writes a time today; null for anything else.
 * `Date.parse` alone would take a bare number for a year and read a time without a zone as local time.
 */
export function readHttpDate(text: string | null): number | null {
  if (text === null || !IMF_FIXDATE.test(text)) return null;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : atMs;
}
