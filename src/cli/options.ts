/**
 * Parameters of commands: functions that define arguments and options, and parse their values.
 *
 * Each definition holds its help text and its parser together. Parsers accept any spelling of a word that is
 * unambiguous, and throw a usage error that names the parameter for anything else.
 */
import { isId, isPrintable } from '../registry/model.js';
import { parseTimeRange, type TimeRange } from '../text/time-range.js';
import { describeWrongWord, findSpelling } from '../text/vocabulary.js';
import { createUsageError } from './exit.js';
import type { Io } from './io.js';

/** An argument or option of a command: its help text, and how its value is parsed. */
export interface Parameter<T> {
  /** The word between the brackets of `<name>`; null for a flag, which has no value. */
  readonly placeholder: string | null;
  readonly description: string | ((io: Io) => string);
  readonly isRequired?: boolean;
  readonly defaultText?: string;
  /** Whether the option is `--no-NAME`, which turns off what is on by default. */
  readonly isNegated?: boolean;
  readonly choices?: readonly string[];
  /** Parses the value from the command line; `undefined` means it was left out. Throws a usage error if it is invalid. */
  readonly parse: (rawValue: unknown, io: Io) => T;
}

/** Parameters by name. */
export type ParameterSet = Readonly<Record<string, Parameter<unknown>>>;
/** The parsed values of a set of parameters, by parameter name. */
export type ParsedParameters<P extends ParameterSet> = {
  readonly [Name in keyof P]: ReturnType<NonNullable<P[Name]>['parse']>;
};

type ParameterDescription = Parameter<unknown>['description'];
type TextParser<T> = (text: string, io: Io) => T;
type OptionalParameter<T> = Parameter<T | undefined>;

/** Converts a parameter name to its option: `creditId` becomes `--credit-id`. */
export function toOptionName(key: string): string {
  return `--${key.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;
}

/** Defines an option without a value: true if it is given. */
export function defineFlag(description: ParameterDescription): Parameter<boolean> {
  return { placeholder: null, description, parse: rawValue => rawValue === true };
}

/** Defines an option `--no-NAME`: false if it is given. */
export function defineNegatedFlag(description: ParameterDescription): Parameter<boolean> {
  return { placeholder: null, description, isNegated: true, parse: rawValue => rawValue !== false };
}

/** Defines an optional parameter whose value is any text. */
export function defineText(
  placeholder: string,
  description: ParameterDescription,
): OptionalParameter<string> {
  return defineParsedText(placeholder, description, value => value);
}

/** Defines an option that takes one or more texts, as in `--id A B`. */
export function defineTextList(
  placeholder: string,
  description: ParameterDescription,
): OptionalParameter<string[]> {
  return {
    ...defineText(`${placeholder}...`, description),
    parse: rawValues => (Array.isArray(rawValues) ? rawValues.map(String) : undefined),
  };
}

/** Defines an optional parameter whose text is turned into a value by `parseText`. */
export function defineParsedText<T>(
  placeholder: string,
  description: ParameterDescription,
  parseText: TextParser<T>,
): OptionalParameter<T> {
  const parse = (rawValue: unknown, io: Io) =>
    typeof rawValue === 'string' ? parseText(rawValue, io) : undefined;
  return { placeholder, description, parse };
}

/** Defines a parameter for a registry id, which is safe in a URL path. Errors call the parameter `name`. */
export function defineRegistryId(name: string, description: ParameterDescription): OptionalParameter<string> {
  return defineParsedText('id', description, text => {
    const isValid: boolean = isId(text);
    if (isValid) return text;
    throw createUsageError(`${name}: expected an id, got "${text}".`);
  });
}

/** Defines a parameter that takes one of the choices, whatever its case and separators. */
export function defineChoice<const Word extends string>(
  placeholder: string,
  description: ParameterDescription,
  choices: readonly Word[],
): OptionalParameter<Word> {
  const parseWord = (text: string): Word => {
    const word = findSpelling(text, choices);
    if (word !== null) return word;
    throw createUsageError(describeWrongWord(text, choices));
  };
  return { ...defineParsedText(placeholder, description, parseWord), choices };
}

/** Returns the parameter as a mandatory one. */
export function makeRequired<T>(parameter: OptionalParameter<T>): Parameter<T> {
  const parse: Parameter<T>['parse'] = (rawValue, io) => {
    const value = parameter.parse(rawValue, io);
    if (value === undefined) throw new Error(`expected ${parameter.placeholder}, got ${String(rawValue)}`);
    return value;
  };
  return { ...parameter, isRequired: true, parse };
}

/** Returns the parameter with a default. The default text is parsed like text from the command line. */
export function withDefault<T>(parameter: OptionalParameter<T>, defaultText: string): Parameter<T> {
  return { ...makeRequired(parameter), isRequired: false, defaultText };
}

/**
 * Defines a parameter for a date that is not in the future. Its value is the time range it covers, such as a whole
 * month. `usedEdge` says in the help which edge of the range the command uses.
 */
export function definePastDate(
  description: string,
  usedEdge: 'start' | 'end' = 'end',
): OptionalParameter<TimeRange> {
  return defineParsedText(
    'date',
    io => `${description}: ${describeDateForms(usedEdge, io.now())}`,
    (text, io) => parsePastRange(text, io.now()),
  );
}

/** Defines a parameter for a whole number from 0. Errors call the parameter `name`. */
export function defineWholeNumber(
  name: string,
  description: ParameterDescription,
): OptionalParameter<number> {
  return defineParsedText('n', description, text => parseWholeNumber(name, text));
}

/** Defines `--limit`, the number of rows to show; 0 for all. */
export function defineRowLimit(defaultLimit: number): Parameter<number> {
  return withDefault(
    defineWholeNumber('--limit', 'show at most this many rows; 0 shows all'),
    String(defaultLimit),
  );
}

/** Ends the description of a parameter that names an organization, installation or app. */
export const NAME_HINT = ' (id, name, or a part of either)';

/** The option `--organization`, which restricts a command to one organization. */
export const ORGANIZATION_OPTION = defineText('name', `only this organization${NAME_HINT}`);
export const ORGANIZATION_ARGUMENT = makeRequired(defineText('name', `the organization${NAME_HINT}`));
export const YES_OPTION = defineFlag('skip the confirmation');
export const VACUUM_OPTION = defineNegatedFlag(
  'skip the vacuum: writers do not wait, but removed data may remain in unused parts of the database files',
);

/** Parses a whole number from 0. Throws a usage error that starts with `name` for any other text. */
export function parseWholeNumber(name: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw createUsageError(`${name}: expected a whole number, got "${text}".`);
}

/** Returns the text if all its characters are printable; throws a usage error otherwise. Does not make it safe in a URL path. */
export function requirePrintable(name: string, text: string): string {
  if (isPrintable(text)) return text;
  throw createUsageError(`${name}: expected printable text, got ${JSON.stringify(text)}.`);
}

/** Lists the forms of dates that `parsePastRange` accepts, for help texts. */
function describeDateForms(usedEdge: 'start' | 'end', now: number): string {
  const instant = new Date(now).toISOString();
  return `a day, month, quarter or year such as 2026-Q1 (its ${usedEdge} in UTC), an instant such as ${instant}, yesterday, 24h (24 hours ago) or now`;
}

/** Parses a date into the time range it covers, at most up to `now`. Throws a usage error if it is invalid or in the future. */
export function parsePastRange(text: string, now: number): TimeRange {
  const range = parseTimeRange(text, now);
  if ('fault' in range) throw createUsageError(range.fault);
  return range;
}
