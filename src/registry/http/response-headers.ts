const IMF_FIXDATE = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;

/** Parses an HTTP date such as `Tue, 01 Jul 2025 12:00:00 GMT` to epoch milliseconds. Returns null for any other text. */
export function parseHttpDate(text: string | null): number | null {
  // `Date.parse` alone would accept a bare number as a year and take a time without a zone as local time.
  if (text === null || !IMF_FIXDATE.test(text)) return null;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : atMs;
}

/** The longest wait, whatever the registry asks for. */
const MAX_RETRY_AFTER_MS = 15 * 60_000;

/**
 * Parses a Retry-After header, which has seconds or a date, to milliseconds. Returns at most 15 minutes, or null if the header
 * is missing or invalid.
 */
export function parseRetryAfter(header: string | null, serverNowMs: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), MAX_RETRY_AFTER_MS);
  const atMs = parseHttpDate(text);
  if (atMs === null) return null;
  return Math.min(Math.max(atMs - serverNowMs, 0), MAX_RETRY_AFTER_MS);
}

/**
 * Allows letters, digits, spaces and a few signs, beginning with a letter or digit. Excludes folders, devices and hidden
 * files.
 */
const SAFE_NAME = /^[A-Za-z0-9][A-Za-z0-9 ._()-]{0,119}$/;
const RESERVED_ON_WINDOWS = /^(con|prn|aux|nul|com\d|lpt\d)(\.|$)/i;

/** Returns the PDF file name in a Content-Disposition header. Null if the name is unsafe or missing. */
export function parsePdfFileName(disposition: string | null): string | null {
  const [, quoted, plain] =
    /;\s*filename=(?:"([^"\\]*)"|([^\s;"]+))\s*(?:;|$)/i.exec(disposition ?? '') ?? [];
  const name = quoted ?? plain ?? '';
  const isSafe = SAFE_NAME.test(name) && !RESERVED_ON_WINDOWS.test(name) && /\.pdf$/i.test(name);
  return isSafe ? name : null;
}
