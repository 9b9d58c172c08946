import { AMOUNT_RULE, toMicro } from '../registry/amounts.js';
import { badRequest } from './errors.js';

const MAX_TEXT = 10_000;

/** A rule on a text, with the words of its refusal. */
export interface TextRule {
  readonly holds: (text: string) => boolean;
  readonly expected: string;
}

function like(form: RegExp, expected: string): TextRule {
  return { holds: text => form.test(text), expected };
}

export const IS_UUID = like(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'a UUID');
export const IS_ADDRESS = like(/^0x[0-9a-f]{40}$/i, '0x and 40 hexadecimal digits');
export const IS_EMAIL = like(
  /^(?=.{1,254}$)[^\s@"<>]{1,64}@[^\s@"<>.]+(\.[^\s@"<>.]+)+$/,
  'an e-mail address',
);
export const IS_COUNTRY_CODE = like(/^[A-Z]{2}$/, 'two capital letters');
export const IS_YEAR = like(/^\d{4}$/, 'a year of four digits');
export const NOT_EMPTY = like(/\S/, 'a text that is not empty');

export function oneOf(words: readonly string[]): TextRule {
  return { holds: text => words.includes(text), expected: `one of ${words.join(', ')}` };
}

/** What is made of a body; all that is wrong with it is refused at once. */
export function readBody<Made>(body: unknown, make: (fields: Fields, faults: string[]) => Made): Made {
  const faults: string[] = [];
  const made = make(readFields(body, faults, ''), faults);
  if (faults.length > 0) throw badRequest(faults);
  return made;
}

/** The fields of one object of a body. What is wrong with them is collected in `faults`. */
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

function readFields(body: unknown, faults: string[], prefix: string): Fields {
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

/** So much of a credit. */
export function readPart(fields: Fields) {
  return { creditId: fields.text('creditId'), micro: fields.micro('amount') };
}
