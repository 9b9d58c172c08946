import { readLength } from './length.js';

/** An instant in the form of the mirror's own, or what is wrong with how it was said. */
export type ReadInstant = { readonly at: string } | { readonly fault: string };

const DAY = /^\d{4}-\d{2}-\d{2}$/;
/** Earlier ones have a sign and six digits, which would not sort as text. */
const FIRST = Date.parse('0000-01-01T00:00:00Z');
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

/** An instant that is past, as a person says it. */
export function parseInstant(text: string, now: number): ReadInstant {
  const ms = millisecondsOf(text, now);
  if (ms === null) {
    const fault = `Expected a date like 2025-12-31, an instant like 2025-12-31T12:00:00Z, "yesterday", "24h" or "now", got "${text}".`;
    return { fault };
  }
  const isToday = text === dayOf(now);
  if (ms > now && !isToday) return { fault: `${text} lies in the future: the mirror knows the past only.` };
  return { at: new Date(Math.min(ms, now)).toISOString() };
}

function millisecondsOf(text: string, now: number): number | null {
  if (text === 'now') return now;
  if (text === 'yesterday') return endOf(dayOf(now - 24 * 3_600_000));
  if (DAY.test(text)) return endOf(text);
  const ago = readLength(text);
  if (ago !== null) return now - ago < FIRST ? null : now - ago;
  const ms = INSTANT.test(text) && endOf(text.slice(0, 10)) !== null ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? null : ms;
}

/** Null for a day that no calendar has: Date.parse takes 30 February for 2 March. */
function endOf(day: string): number | null {
  const ms = Date.parse(`${day}T23:59:59.999Z`);
  return new Date(ms || 0).toISOString().startsWith(day) ? ms : null;
}

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}
