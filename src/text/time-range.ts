import { parseDuration } from './parse-duration.js';

/** From its first instant to its last, both in the form of the mirror's own. Of an instant they are the same. */
export interface TimeRange {
  readonly from: string;
  readonly to: string;
}

/** What a person means by a date, or what is wrong with how it was said. */
export type ParsedTimeRange = TimeRange | { readonly fault: string };

/** Earlier ones have a sign and six digits, which would not sort as text. */
const EARLIEST_MS = Date.parse('0000-01-01T00:00:00Z');
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;
const DAY_MS = 24 * 3_600_000;

type EpochRange = readonly [from: number, to: number];

/** Reads a day, a month, a quarter or a year in UTC, or an instant. A span that has not ended ends now; a future one is refused. */
export function parseTimeRange(text: string, now: number): ParsedTimeRange {
  const span = parsePeriod(text, now);
  if ('fault' in span) return span;
  const present = formatInstant(now);
  if (span.from > present) return { fault: `${text} is in the future.` };
  return { from: span.from, to: span.to < present ? span.to : present };
}

/** Reads the same forms as `parseSpan`, and takes the future too: jobs and reservations have dates there. */
export function parsePeriod(text: string, now: number): ParsedTimeRange {
  const ends = parseEpochRange(text, now);
  if (ends !== null) return { from: formatInstant(ends[0]), to: formatInstant(ends[1]) };
  const fault = `Expected a date like 2025-12-31, 2025-12, 2025-Q4 or 2025, an instant like 2025-12-31T12:00:00Z, "yesterday", "24h" or "now", got "${text}".`;
  return { fault };
}

function parseEpochRange(text: string, now: number): EpochRange | null {
  if (text === 'now') return [now, now];
  if (text === 'yesterday') return parseCalendarDate(formatInstant(now - DAY_MS).slice(0, 10));
  const ago = parseDuration(text);
  if (ago !== null) return now - ago < EARLIEST_MS ? null : [now - ago, now - ago];
  if (!INSTANT.test(text)) return parseCalendarDate(text);
  const at = parseCalendarDate(text.slice(0, 10)) === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? null : [at, at];
}

const QUARTER_MONTHS = 3;

/** Returns null for a date that no calendar has: Date.parse takes 30 February for 2 March. */
function parseCalendarDate(text: string): EpochRange | null {
  const [, ofQuarter, quarter] = /^(\d{4})-Q([1-4])$/i.exec(text) ?? [];
  if (ofQuarter !== undefined) {
    const last = QUARTER_MONTHS * Number(quarter);
    const month = (number: number) => parseCalendarDate(`${ofQuarter}-${String(number).padStart(2, '0')}`);
    const [first, end] = [month(last - QUARTER_MONTHS + 1), month(last)];
    return first === null || end === null ? null : [first[0], end[1]];
  }
  const [, year, month, day] = /^(\d{4})(-\d{2})?(-\d{2})?$/.exec(text) ?? [];
  const from = Date.parse(`${year}${month ?? '-01'}${day ?? '-01'}T00:00:00Z`);
  if (Number.isNaN(from) || !formatInstant(from).startsWith(text)) return null;
  const next = new Date(from);
  if (day !== undefined) next.setUTCDate(next.getUTCDate() + 1);
  else if (month !== undefined) next.setUTCMonth(next.getUTCMonth() + 1);
  else next.setUTCFullYear(next.getUTCFullYear() + 1);
  return [from, next.getTime() - 1];
}

function formatInstant(ms: number): string {
  return new Date(ms).toISOString();
}
