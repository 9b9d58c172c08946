import { isId, isPrintable } from '../registry/model.js';
import { parseSpan, type Span } from '../text/instant.js';
import { usageFault } from './exit.js';
import type { Io } from './io.js';

export function readNumber(what: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw usageFault(`${what}: expected a whole number, got "${text}".`);
}

export function readId(what: string, text: string): string {
  const fits: boolean = isId(text);
  if (fits) return text;
  throw usageFault(`${what}: expected an id, got "${text}".`);
}

/** For an id that enters no path. */
export function readPrintable(what: string, text: string): string {
  if (isPrintable(text)) return text;
  throw usageFault(`${what}: expected printable text, got ${JSON.stringify(text)}.`);
}

/** The day that goes on, in UTC: whatever a mirror knows, it knows as of then. */
export function today({ now }: Pick<Io, 'now'>): string {
  return new Date(now()).toISOString().slice(0, 10);
}

/** What `readSpan` takes, for the help of every command that takes one. */
export function aDate({ now }: Pick<Io, 'now'>): string {
  const instant = new Date(now()).toISOString();
  return `a day, a month or a year in UTC, an instant such as ${instant}, yesterday, 24h (so long ago) or now`;
}

/** What a person means by a date that is past. */
export function readSpan(text: string, now: number): Span {
  const read = parseSpan(text, now);
  if ('fault' in read) throw usageFault(read.fault);
  return read;
}

/** As a person says it, and as `readSpan` takes it. */
export function readYear(text: string): string {
  if (/^\d{4}$/.test(text)) return text;
  throw usageFault(`Expected a year like 2025, got "${text}".`);
}
