/**
 * Parses the dates that people type into options and filters: `2025-12-31`, `2025-12`, `2025-Q4`, `2025`, `yesterday`, `24h`,
 * `now` or an ISO instant, and the dates that pages show: `31 Dec 2025`, `Dec 2025` and `31 Dec 2025, 12:00:00.000 UTC`. A date becomes the range from its first to its last millisecond in UTC.
 */
import { parseDuration } from './duration.js';

/** A range of time from `since` to `until`, both included, as ISO texts. They are equal for a single instant. */
export interface TimeRange {
  readonly since: string;
  readonly until: string;
}

/** The end of a period that an option or a field means, if a person gives a period such as a day. */
export type PeriodEdge = 'start' | 'end';

/** Lists the forms of a date for people: `a UTC day, … such as 2026-Q1 (meaning its end), …`. */
export function describeDateForms(edge: PeriodEdge, now: number): string {
  return `a UTC day, month, quarter or year such as 2026-Q1 (meaning its ${edge}), an instant such as ${formatInstant(now)}, yesterday, 24h (24 hours ago) or now`;
}

/** The parsed range, or the error message for the person who typed the text. */
export type ParsedTimeRange = TimeRange | { readonly fault: string };

/** Years before 0000 are written with a sign and six digits, which do not sort as text. */
const EARLIEST_MS = Date.parse('0000-01-01T00:00:00Z');
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})?$/;
const DAY_MS = 24 * 3_600_000;

/** A range of time in epoch milliseconds, both ends included. */
interface EpochRange {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** Parses a date, an instant or a duration such as `24h` (24 hours ago). The range ends at `now` at the latest. */
export function parseTimeRange(text: string, now: number): ParsedTimeRange {
  const range = parsePastOrFutureRange(text, now);
  if ('fault' in range) return range;
  const present = formatInstant(now);
  if (range.since > present) return { fault: `${text} is in the future.` };
  return { since: range.since, until: range.until < present ? range.until : present };
}

/** Parses a date, an instant or a duration such as `24h` (24 hours ago). The range may be in the future. */
export function parsePastOrFutureRange(text: string, now: number): ParsedTimeRange {
  const range = parseEpochRange(text, now);
  if (range !== null) return { since: formatInstant(range.sinceMs), until: formatInstant(range.untilMs) };
  const fault = `Expected a date like 2025-12-31, 2025-12, 2025-Q4 or 2025, an instant like 2025-12-31T12:00:00Z, "yesterday", "24h" or "now", got "${text}".`;
  return { fault };
}

/** The months as pages show them, from January on. */
export const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const DISPLAYED_DATE = /^(?:(\d{1,2}) )?([a-z]{3}) (\d{4})(?:, (\d{2}:\d{2}:\d{2}\.\d{3}) UTC)?$/i;

/**
 * Converts a date as pages show it, such as `31 Dec 2025`, to one such as `2025-12-31`. An unknown month becomes `00`, which no
 * date has. Returns other texts unchanged.
 */
function toIsoDate(text: string): string {
  const [, day, name = '', year, time] = DISPLAYED_DATE.exec(text) ?? [];
  if (year === undefined) return text;
  const month = MONTHS.findIndex(each => each.toLowerCase() === name.toLowerCase()) + 1;
  const days = day === undefined ? '' : `-${day.padStart(2, '0')}`;
  const instant = time === undefined ? '' : `T${time}Z`;
  return `${year}-${String(month).padStart(2, '0')}${days}${instant}`;
}

/** Parses a date, an instant or a duration to a time range in epoch milliseconds. Returns null for any other text. */
function parseEpochRange(writtenText: string, now: number): EpochRange | null {
  const text = toIsoDate(writtenText.trim());
  if (text === 'now') return createInstantRange(now);
  if (text === 'yesterday') return parseCalendarDate(formatInstant(now - DAY_MS).slice(0, 10));
  const agoMs = parseDuration(text);
  if (agoMs !== null) return now - agoMs < EARLIEST_MS ? null : createInstantRange(now - agoMs);
  if (!INSTANT.test(text)) return parseCalendarDate(text);
  if (parseCalendarDate(text.slice(0, 10)) === null) return null;
  const hasZone = /(Z|[+-]\d{2}:\d{2})$/.test(text);
  const instant = Date.parse(hasZone ? text : `${text}Z`);
  return Number.isNaN(instant) ? null : createInstantRange(instant);
}

/** Creates a time range that begins and ends at the same instant. */
function createInstantRange(ms: number): EpochRange {
  return { sinceMs: ms, untilMs: ms };
}

/** Parses a year, quarter, month or day to a time range. Returns null for a date that does not exist. */
function parseCalendarDate(text: string): EpochRange | null {
  const [, quarterYear, quarter] = /^(\d{4})-Q([1-4])$/i.exec(text) ?? [];
  if (quarterYear !== undefined) return parseQuarter(quarterYear, Number(quarter));
  const [, year, month, day] = /^(\d{4})(-\d{2})?(-\d{2})?$/.exec(text) ?? [];
  const sinceMs = Date.parse(`${year}${month ?? '-01'}${day ?? '-01'}T00:00:00Z`);
  // Date.parse reads 30 February as 2 March.
  if (Number.isNaN(sinceMs) || !formatInstant(sinceMs).startsWith(text)) return null;
  const end = new Date(sinceMs);
  if (day !== undefined) end.setUTCDate(end.getUTCDate() + 1);
  else if (month !== undefined) end.setUTCMonth(end.getUTCMonth() + 1);
  else end.setUTCFullYear(end.getUTCFullYear() + 1);
  return { sinceMs, untilMs: end.getTime() - 1 };
}

const MONTHS_PER_QUARTER = 3;

/** Parses a quarter of a year to its time range: `2025`, 4 → October to December 2025. Null if the year cannot be parsed. */
function parseQuarter(year: string, quarter: number): EpochRange | null {
  const lastMonth = MONTHS_PER_QUARTER * quarter;
  const parseMonth = (month: number) => parseCalendarDate(`${year}-${String(month).padStart(2, '0')}`);
  const first = parseMonth(lastMonth - MONTHS_PER_QUARTER + 1);
  const last = parseMonth(lastMonth);
  return first === null || last === null ? null : { sinceMs: first.sinceMs, untilMs: last.untilMs };
}

/** Formats epoch milliseconds as an ISO instant in UTC. */
function formatInstant(ms: number): string {
  return new Date(ms).toISOString();
}
