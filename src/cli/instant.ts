import { parseInstant } from '../text/instant.js';
import { CommandFault, EXIT } from './exit.js';

/** What `readInstant` takes, for the help of every command that takes one. */
export const AN_INSTANT =
  'a date (the end of that day in UTC), an instant such as 2026-01-31T12:00:00Z, yesterday, 24h (so long ago) or now';

/** An instant that is past, as a person says it, in the form of the mirror's own. */
export function readInstant(text: string, now: number): string {
  const read = parseInstant(text, now);
  if ('fault' in read) throw new CommandFault(EXIT.usage, read.fault);
  return read.at;
}
