import { parseSpan, type Span } from '../text/instant.js';
import { CommandFault, EXIT } from './exit.js';

/** What `readSpan` takes, for the help of every command that takes one. */
export const A_DATE =
  'a day, a month or a year in UTC, an instant such as 2026-01-31T12:00:00Z, yesterday, 24h (so long ago) or now';
export const ITS_END = `the end of ${A_DATE}`;

/** What a person means by a date that is past. */
export function readSpan(text: string, now: number): Span {
  const read = parseSpan(text, now);
  if ('fault' in read) throw new CommandFault(EXIT.usage, read.fault);
  return read;
}

/** As a person says it, and as `readSpan` takes it. */
export function readYear(text: string): string {
  if (/^\d{4}$/.test(text)) return text;
  throw new CommandFault(EXIT.usage, `Expected a year like 2025, got "${text}".`);
}
