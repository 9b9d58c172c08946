import { readLength } from './length.js';

/** From its first instant to its last, both in the form of the mirror's own. Of an instant they are the same. */
export interface Span {
  readonly from: string;
  readonly to: string;
}

/** What a person means by a date, or what is wrong with how it was said. */
export type ReadSpan = Span | { readonly fault: string };

/** Earlier ones have a sign and six digits, which would not sort as text. */
const FIRST = Date.parse('0000-01-01T00:00:00Z');
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;
const DAY_MS = 24 * 3_600_000;

type Ends = readonly [from: number, to: number];

/** A day, a month or a year, in UTC, or an instant. What goes on ends now; what has not begun is refused. */
export function parseSpan(text: string, now: number): ReadSpan {
  const ends = endsOf(text, now);
  if (ends === null) {
    const fault = `Expected a date like 2025-12-31, 2025-12 or 2025, an instant like 2025-12-31T12:00:00Z, "yesterday", "24h" or "now", got "${text}".`;
    return { fault };
  }
  const [from, to] = ends;
  if (from > now) return { fault: `${text} lies in the future: the mirror knows the past only.` };
  return { from: formatted(from), to: formatted(Math.min(to, now)) };
}

function endsOf(text: string, now: number): Ends | null {
  if (text === 'now') return [now, now];
  if (text === 'yesterday') return inCalendar(formatted(now - DAY_MS).slice(0, 10));
  const ago = readLength(text);
  if (ago !== null) return now - ago < FIRST ? null : [now - ago, now - ago];
  if (!INSTANT.test(text)) return inCalendar(text);
  const at = inCalendar(text.slice(0, 10)) === null ? Number.NaN : Date.parse(text);
  return Number.isNaN(at) ? null : [at, at];
}

/** Null for what no calendar has: Date.parse takes 30 February for 2 March. */
function inCalendar(text: string): Ends | null {
  const [, year, month, day] = /^(\d{4})(-\d{2})?(-\d{2})?$/.exec(text) ?? [];
  const from = Date.parse(`${year}${month ?? '-01'}${day ?? '-01'}T00:00:00Z`);
  if (Number.isNaN(from) || !formatted(from).startsWith(text)) return null;
  const next = new Date(from);
  if (day !== undefined) next.setUTCDate(next.getUTCDate() + 1);
  else if (month !== undefined) next.setUTCMonth(next.getUTCMonth() + 1);
  else next.setUTCFullYear(next.getUTCFullYear() + 1);
  return [from, next.getTime() - 1];
}

function formatted(ms: number): string {
  return new Date(ms).toISOString();
}
