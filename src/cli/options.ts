import { isId, isPrintable } from '../registry/model.js';
import { parseTimeRange, type TimeRange } from '../text/time-range.js';
import { describeWrongWord, findSpelling } from '../text/vocabulary.js';
import { createUsageError } from './exit.js';
import type { Io } from './io.js';

/** An argument or option of a command: its help text, and how its value is parsed. */
export interface Parameter<T> {
  /** As in `<name>`; null for a flag, which has no value. */
  readonly placeholder: string | null;
  readonly description: string | ((io: Io) => string);
  readonly isRequired?: boolean;
  readonly defaultText?: string;
  /** Whether the option is `--no-NAME`, which turns off what is on by default. */
  readonly isNegated?: boolean;
  readonly choices?: readonly string[];
  /** Parses the value from the command line, undefined if it has none. Throws a usage fault for an invalid value. */
  readonly parse: (given: unknown, io: Io) => T;
}

export type ParameterSet = Readonly<Record<string, Parameter<unknown>>>;
/** The parsed values of a set of parameters. */
export type ParsedParameters<P extends ParameterSet> = {
  readonly [Name in keyof P]: ReturnType<NonNullable<P[Name]>['parse']>;
};

type ParameterDescription = Parameter<unknown>['description'];
type TextParser<T> = (defineText: string, io: Io) => T;
type OptionalParameter<T> = Parameter<T | undefined>;

/** Returns `--credit-id` for `creditId`. */
export function toOptionName(key: string): string {
  return `--${key.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;
}

/** Defines an option without a value: true if it is given. */
export function defineFlag(description: ParameterDescription): Parameter<boolean> {
  return { placeholder: null, description, parse: given => given === true };
}

/** Defines an option `--no-NAME`: false if it is given. */
export function defineNegatedFlag(description: ParameterDescription): Parameter<boolean> {
  return { placeholder: null, description, isNegated: true, parse: given => given !== false };
}

/** Defines a parameter whose value is any text. */
export function text(placeholder: string, description: ParameterDescription): OptionalParameter<string> {
  return defineParsedText(placeholder, description, given => given);
}

/** Defines an option that takes one or more texts. */
export function defineTextList(
  placeholder: string,
  description: ParameterDescription,
): OptionalParameter<string[]> {
  return {
    ...text(`${placeholder}...`, description),
    parse: given => (Array.isArray(given) ? given.map(String) : undefined),
  };
}

/** Defines a parameter whose text `parseText` turns into a value. */
export function defineParsedText<T>(
  placeholder: string,
  description: ParameterDescription,
  parseText: TextParser<T>,
): OptionalParameter<T> {
  const parse = (given: unknown, io: Io) => (typeof given === 'string' ? parseText(given, io) : undefined);
  return { placeholder, description, parse };
}

/** Defines a parameter for an id that is safe in a path of the registry; `name` is used in errors. */
export function defineRegistryId(name: string, description: ParameterDescription): OptionalParameter<string> {
  return defineParsedText('id', description, given => {
    const isValid: boolean = isId(given);
    if (isValid) return given;
    throw createUsageError(`${name}: expected an id, got "${given}".`);
  });
}

/** Defines a parameter that takes one of several words, in any spelling. */
export function defineChoice<const Word extends string>(
  placeholder: string,
  description: ParameterDescription,
  choices: readonly Word[],
): OptionalParameter<Word> {
  const parseWord = (given: string): Word => {
    const word = findSpelling(given, choices);
    if (word !== null) return word;
    throw createUsageError(describeWrongWord(given, choices));
  };
  return { ...defineParsedText(placeholder, description, parseWord), choices };
}

/** Makes a parameter mandatory. */
export function makeRequired<T>(parameter: OptionalParameter<T>): Parameter<T> {
  const parse: Parameter<T>['parse'] = (given, io) => {
    const value = parameter.parse(given, io);
    if (value === undefined) throw new Error(`expected ${parameter.placeholder}, got ${String(given)}`);
    return value;
  };
  return { ...parameter, isRequired: true, parse };
}

/** Gives a parameter a default, which is parsed like a typed text. */
export function withDefault<T>(parameter: OptionalParameter<T>, defaultText: string): Parameter<T> {
  return { ...makeRequired(parameter), isRequired: false, defaultText };
}

/** Defines a parameter for a past date. Its value is the time range of that date, such as a whole month. */
export function definePastDate(description: string): OptionalParameter<TimeRange> {
  return defineParsedText(
    'date',
    io => `${description} ${describeDateForms(io)}`,
    (given, io) => parsePastRange(given, io.now()),
  );
}

/** Defines a parameter for a whole number from 0; `name` is used in errors. */
export function defineWholeNumber(
  name: string,
  description: ParameterDescription,
): OptionalParameter<number> {
  return defineParsedText('n', description, given => parseWholeNumber(name, given));
}

/** Defines `--limit`, the number of rows to show; 0 for all. */
export function defineRowLimit(defaultLimit: number): Parameter<number> {
  return withDefault(defineWholeNumber('--limit', 'show at most this many; 0 for all'), String(defaultLimit));
}

/** Ends the description of a parameter that names an organization, installation or app. */
export const NAME_HINT = ' (id, name, or a part of either)';

/** Restricts a command to one organization. */
export const ORGANIZATION_OPTION = text('name', `only this organization${NAME_HINT}`);
export const ORGANIZATION_ARGUMENT = makeRequired(text('name', `the organization${NAME_HINT}`));
export const YES_OPTION = defineFlag('skip the confirmation');
export const VACUUM_OPTION = defineNegatedFlag(
  'do not vacuum: writers need not wait, but removed data may remain in unused parts of the files',
);

/** Parses a whole number from 0; throws a usage fault that starts with `name`. */
export function parseWholeNumber(name: string, given: string): number {
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw createUsageError(`${name}: expected a whole number, got "${given}".`);
}

/** Returns the text if all its characters are printable. Enough for an id that is sent in a body, not in a path. */
export function assertPrintable(name: string, given: string): string {
  if (isPrintable(given)) return given;
  throw createUsageError(`${name}: expected printable text, got ${JSON.stringify(given)}.`);
}

/** Describes what `parsePastRange` accepts. */
function describeDateForms({ now }: Pick<Io, 'now'>): string {
  const instant = new Date(now()).toISOString();
  return `a day, month, quarter or year (UTC), an instant such as ${instant}, yesterday, 24h (ago) or now`;
}

/** Parses a date into the time range it covers, up to `now`; throws a usage fault if it is invalid or in the future. */
export function parsePastRange(given: string, now: number): TimeRange {
  const range = parseTimeRange(given, now);
  if ('fault' in range) throw createUsageError(range.fault);
  return range;
}
