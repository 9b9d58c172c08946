const IMF_FIXDATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Parses an HTTP date such as `Tue, 01 Jul 2025 12:00:00 GMT` to epoch milliseconds. Returns null for any other text. */
export function parseHttpDate(text: string | null): number | null {
  // `Date.parse` alone would accept a bare number as a year and take a time without a zone as local time.
  if (text === null || !IMF_FIXDATE.test(text)) return null;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : atMs;
}
