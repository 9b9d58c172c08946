import { isId, isPrintable } from '../registry/model.js';
import { readLength } from '../text/length.js';
import { usageFault } from './exit.js';

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

export function readDuration(what: string, text: string): number {
  const ms = readLength(text);
  if (ms !== null) return ms;
  throw usageFault(`${what}: expected a time such as 500ms, 30s, 10m, 2h or 1d, got "${text}".`);
}
