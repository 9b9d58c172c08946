import { AMOUNT_RULE, toMicro } from '../parts/amounts.js';
import { badRequest } from './errors.js';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const ADDRESS = /^0x[0-9a-f]{40}$/i;
const EMAIL = /^[^\s@"<>]{1,64}@[^\s@"<>.]+(\.[^\s@"<>.]+)+$/;
const COUNTRY_CODE = /^[A-Z]{2}$/;

const MAX_TEXT = 10_000;

function isUuid(text: string): boolean {
  return UUID.test(text);
}

function isAddress(text: string): boolean {
  return ADDRESS.test(text);
}

function isEmail(text: string): boolean {
  return text.length <= 254 && EMAIL.test(text);
}

function isCountryCode(text: string): boolean {
  return COUNTRY_CODE.test(text);
}

/** A rule on a text, with the words of its refusal. */
export interface TextRule {
  readonly holds: (text: string) => boolean;
  readonly expected: string;
}

export const IS_UUID: TextRule = { holds: isUuid, expected: 'a UUID' };
export const IS_ADDRESS: TextRule = { holds: isAddress, expected: '0x and 40 hexadecimal digits' };
export const IS_EMAIL: TextRule = { holds: isEmail, expected: 'an e-mail address' };
export const IS_COUNTRY_CODE: TextRule = { holds: isCountryCode, expected: 'two capital letters' };
export const NOT_EMPTY: TextRule = {
  holds: text => text.trim() !== '',
  expected: 'a text that is not empty',
};

export function oneOf(words: readonly string[]): TextRule {
  return { holds: text => words.includes(text), expected: `one of ${words.join(', ')}` };
}

/** The fields of one object of a body. What is wrong with them is collected in `faults`, all at once. */
export interface Fields {
  text(name: string, rule?: TextRule): string;
  /** Absent and null are the same. */
  optionalText(name: string, rule?: TextRule): string | null;
  micro(name: string): number;
  flag(name: string, fallback: boolean): boolean;
  count(name: string, fallback: number, most?: number): number;
  has(name: string): boolean;
  value(name: string): unknown;
  object(name: string): Fields;
}

export function readFields(body: unknown, faults: string[], prefix = ''): Fields {
  const values = new Map<string, unknown>();
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) {
    for (const [name, value] of Object.entries(body)) values.set(name, value);
  } else {
    faults.push(
      prefix === '' ? 'the body must be a JSON object' : `${prefix.slice(0, -1)} must be an object`,
    );
  }

  function has(name: string): boolean {
    return values.get(name) !== undefined && values.get(name) !== null;
  }

  function fault(name: string, expected: string): void {
    faults.push(`${prefix}${name} must be ${expected}`);
  }

  function text(name: string, rule?: TextRule): string {
    const value = values.get(name);
    if (typeof value === 'string' && value.length <= MAX_TEXT && (rule === undefined || rule.holds(value))) {
      return value;
    }
    fault(name, rule?.expected ?? `a text of at most ${MAX_TEXT} characters`);
    return '';
  }

  return {
    text,
    optionalText: (name, rule) => (has(name) ? text(name, rule) : null),
    micro(name) {
      const micro = toMicro(values.get(name));
      if (micro === undefined) fault(name, AMOUNT_RULE);
      return micro ?? 0;
    },
    flag(name, fallback) {
      const value = values.get(name) ?? fallback;
      if (typeof value !== 'boolean') fault(name, 'true or false');
      return value === true;
    },
    count(name, fallback, most = Number.MAX_SAFE_INTEGER) {
      const value = values.get(name) ?? fallback;
      if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most) return value;
      fault(name, `a whole number from 0 to ${most}`);
      return fallback;
    },
    has,
    value: name => values.get(name),
    object: name => readFields(values.get(name), faults, `${prefix}${name}.`),
  };
}

export function refuseFaults(faults: readonly string[]): void {
  if (faults.length > 0) throw badRequest(faults);
}
