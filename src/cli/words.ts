import { isId, isPrintable } from '../registry/model.js';
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
