/** Parses the parameters of a URL. A parameter that is unknown, repeated or malformed is refused. */
import type { IncomingMessage } from 'node:http';
import { describeWrongWord } from '../text/spelling.js';
import { parseTimeRange } from '../text/time-range.js';
import { createBadRequest } from './problem.js';

export type Parameters = Pick<URLSearchParams, 'get'>;

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1_000;
/** An instant that is later than this cannot be compared in PostgreSQL. */
const LAST_YEAR = /^\d{4}-/;

/** Returns the URL parameters of a request. Throws a 400 problem if one is unknown, repeated or contains a NUL character. */
export function parseParameters({ url = '' }: IncomingMessage, allowed: readonly string[]): Parameters {
  const { searchParams } = new URL(url, 'http://localhost');
  const names = [...searchParams.keys()];
  for (const name of names) {
    if (!allowed.includes(name))
      throw createBadRequest(
        allowed.length === 0 ? 'This resource has no parameters.' : describeWrongWord(name, allowed),
      );
    if (searchParams.getAll(name).length > 1) throw createBadRequest(`${name}: expected it once.`);
    if (searchParams.get(name)?.includes('\0'))
      throw createBadRequest(`${name}: expected a text without NUL characters.`);
  }
  return searchParams;
}

export function parseLimit(parameters: Parameters): number {
  return parseWholeNumber(parameters, 'limit', { min: 1, max: MAX_LIMIT }) ?? DEFAULT_LIMIT;
}

/** Parses a parameter as a whole number. Returns null if the parameter is missing. */
export function parseWholeNumber(
  parameters: Parameters,
  name: string,
  { min = 0, max = Number.MAX_SAFE_INTEGER }: { readonly min?: number; readonly max?: number } = {},
): number | null {
  const text = parameters.get(name);
  if (text === null) return null;
  const value = /^\d{1,16}$/.test(text) ? Number(text) : -1;
  if (value >= min && value <= max) return value;
  const expected =
    max === Number.MAX_SAFE_INTEGER
      ? `a whole number of at least ${min}`
      : `a whole number from ${min} to ${max}`;
  throw createBadRequest(`${name}: expected ${expected}, got "${shorten(text)}".`);
}

/** Parses a parameter to an instant. A period such as 2025-Q4 becomes its end. Returns null if the parameter is missing. */
export function parseInstant(parameters: Parameters, name: string, now: number): string | null {
  const text = parameters.get(name);
  if (text === null) return null;
  const range = parseTimeRange(text, now);
  if ('fault' in range) throw createBadRequest(`${name}: ${range.fault}`);
  if (!LAST_YEAR.test(range.until)) throw createBadRequest(`${name}: expected a year from 0000 to 9999.`);
  return range.until;
}

const MAX_SHOWN = 40;

function shorten(text: string): string {
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
