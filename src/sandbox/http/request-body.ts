import { AMOUNT_RULE, toMicro } from '../registry/amounts.js';
import { badRequest } from './api-errors.js';

const MAX_TEXT_LENGTH = 10_000;

/** A rule for a text field. `expected` describes a valid value in error messages. */
export interface TextRule {
  readonly isValid: (text: string) => boolean;
  readonly expected: string;
}

/** Creates a rule for strings that match a pattern. */
function createPatternRule(pattern: RegExp, expected: string): TextRule {
  return { isValid: text => pattern.test(text), expected };
}

export const UUID = createPatternRule(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i, 'a UUID');
export const EVM_ADDRESS = createPatternRule(/^0x[0-9a-f]{40}$/i, '0x and 40 hexadecimal digits');
export const EMAIL_ADDRESS = createPatternRule(
  /^(?=.{1,254}$)[^\s@"<>]{1,64}@[^\s@"<>.]+(\.[^\s@"<>.]+)+$/,
  'an e-mail address',
);
export const COUNTRY_CODE = createPatternRule(/^[A-Z]{2}$/, 'two capital letters');
export const YEAR = createPatternRule(/^\d{4}$/, 'a year of four digits');
export const NOT_EMPTY = createPatternRule(/\S/, 'a text that is not empty');

/** Creates a rule that accepts only the given strings. */
export function oneOf(values: readonly string[]): TextRule {
  return { isValid: text => values.includes(text), expected: `one of ${values.join(', ')}` };
}

/** Reads a request body with the function `read`. Throws one 400 error with all problems that were found. */
export function readBody<Result>(
  body: unknown,
  read: (fields: BodyFields, problems: string[]) => Result,
): Result {
  const problems: string[] = [];
  const result = read(createBodyFields(body, problems, ''), problems);
  if (problems.length > 0) throw badRequest(problems);
  return result;
}

/**
 * Reads the fields of a JSON object by type. Each method adds an error message to a shared list if the value is
 * invalid.
 */
export interface BodyFields {
  text(name: string, rule?: TextRule): string;
  /** Returns null if the field is absent or null. */
  optionalText(name: string, rule?: TextRule): string | null;
  /** Reads a number of tonnes and returns it in whole millionths. */
  amountMicro(name: string): number;
  boolean(name: string, fallback: boolean): boolean;
  wholeNumber(name: string, fallback: number, max?: number): number;
  /** Whether the field is present and not null. */
  has(name: string): boolean;
  /** Returns the value unchecked. */
  value(name: string): unknown;
  object(name: string): BodyFields;
}

/** Creates a reader of a JSON object's fields. `namePrefix` precedes field names in error messages. */
function createBodyFields(body: unknown, problems: string[], namePrefix: string): BodyFields {
  const values = new Map<string, unknown>();
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) {
    for (const [name, value] of Object.entries(body)) values.set(name, value);
  } else {
    problems.push(
      namePrefix === '' ? 'the body must be a JSON object' : `${namePrefix.slice(0, -1)} must be an object`,
    );
  }

  /** Returns whether a field is present and not null. */
  function has(name: string): boolean {
    return values.get(name) !== undefined && values.get(name) !== null;
  }

  /** Adds an error message such as "name must be a UUID". */
  function addProblem(name: string, expected: string): void {
    problems.push(`${namePrefix}${name} must be ${expected}`);
  }

  /**
   * Returns a string field of the request body. If it is missing, is too long or breaks `rule`, adds an error message and returns
   * `''`.
   */
  function text(name: string, rule?: TextRule): string {
    const value = values.get(name);
    const isShortText = typeof value === 'string' && value.length <= MAX_TEXT_LENGTH;
    if (isShortText && (rule === undefined || rule.isValid(value))) return value;
    addProblem(name, rule?.expected ?? `a text of at most ${MAX_TEXT_LENGTH} characters`);
    return '';
  }

  return {
    text,
    optionalText: (name, rule) => (has(name) ? text(name, rule) : null),
    /**
     * Returns an amount field of the request body in millionths of a tonne. For an invalid amount, adds an error message and
     * returns 0.
     */
    amountMicro(name: string): number {
      const micro = toMicro(values.get(name));
      if (micro === undefined) addProblem(name, AMOUNT_RULE);
      return micro ?? 0;
    },
    /**
     * Returns a boolean field of the request body, or `fallback` if the field is absent. For any other value, adds an error
     * message and returns false.
     */
    boolean(name: string, fallback: boolean): boolean {
      const value = values.get(name) ?? fallback;
      if (typeof value !== 'boolean') addProblem(name, 'true or false');
      return value === true;
    },
    /**
     * Returns a field of the request body that is an integer from 0 to `max`, or `fallback` if the field is absent. For any other
     * value, adds an error message and returns `fallback`.
     */
    wholeNumber(name: string, fallback: number, max = Number.MAX_SAFE_INTEGER): number {
      const value = values.get(name) ?? fallback;
      if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= max) return value;
      addProblem(name, `a whole number from 0 to ${max}`);
      return fallback;
    },
    has,
    value: name => values.get(name),
    object: name => createBodyFields(values.get(name), problems, `${namePrefix}${name}.`),
  };
}

/** Reads the fields `creditId` and `amount`. Converts the amount from tonnes to millionths of a tonne. */
export function readCreditAmount(fields: BodyFields) {
  return { creditId: fields.text('creditId'), amountMicro: fields.amountMicro('amount') };
}
