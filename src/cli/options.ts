/**
 * Parameters of commands: functions that define arguments and options, and parse their values.
 *
 * Each definition holds its help text and its parser together. Parsers accept any spelling of a word that is
 * unambiguous, and throw a usage error that names the parameter for anything else.
 */
import { isId, isPrintable } from '../text/checks.js';
import { describeDateForms, parseTimeRange, type PeriodEdge, type TimeRange } from '../text/time-range.js';
import { describeWrongWord, findSpelling } from '../text/spelling.js';
import { createUsageError } from './command-error.js';
import type { Io } from './io.js';

/** An argument or option of a command: its help text, and how its value is parsed. */
export interface CommandParameter<T> {
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
export type ParameterSet = Readonly<Record<string, CommandParameter<unknown>>>;
/** The parsed values of a set of parameters, by parameter name. */
export type ParsedParameters<P extends ParameterSet> = {
  readonly [Name in keyof P]: ReturnType<NonNullable<P[Name]>['parse']>;
};

type ParameterDescription = CommandParameter<unknown>['description'];
type TextParser<T> = (text: string, io: Io) => T;
type OptionalParameter<T> = CommandParameter<T | undefined>;

/** Converts a parameter name to an option name: `creditId` → `--credit-id`. */
export function toOptionName(key: string): string {
  return `--${key.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;
}

/** Defines an option without a value. The parsed value is true if the user gave the option. */
export function defineFlag(description: ParameterDescription): CommandParameter<boolean> {
  return { placeholder: null, description, parse: rawValue => rawValue === true };
}

/** Defines an option such as `--no-vacuum`. The parsed value is false if the user gave the option. */
export function defineNegatedFlag(description: ParameterDescription): CommandParameter<boolean> {
  return { placeholder: null, description, isNegated: true, parse: rawValue => rawValue !== false };
}

/** Defines an optional parameter that accepts any text. */
export function defineText(
  placeholder: string,
  description: ParameterDescription,
): OptionalParameter<string> {
  return defineParsedText(placeholder, description, value => value);
}

/** Defines an option that accepts several texts, as in `--id A B`. */
export function defineTextList(
  placeholder: string,
  description: ParameterDescription,
): OptionalParameter<string[]> {
  return {
    ...defineText(`${placeholder}...`, description),
    parse: rawValues => (Array.isArray(rawValues) ? rawValues.map(String) : undefined),
  };
}

/** Defines an optional parameter. `parseText` converts the text from the command line to a value. */
export function defineParsedText<T>(
  placeholder: string,
  description: ParameterDescription,
  parseText: TextParser<T>,
): OptionalParameter<T> {
  const parse = (rawValue: unknown, io: Io) =>
    typeof rawValue === 'string' ? parseText(rawValue, io) : undefined;
  return { placeholder, description, parse };
}

/** Defines an optional parameter for a registry id. `name` is the parameter's name in error messages. */
export function defineRegistryId(name: string, description: ParameterDescription): OptionalParameter<string> {
  return defineParsedText('id', description, text => {
    const isValid: boolean = isId(text);
    if (isValid) return text;
    throw createUsageError(`${name}: expected an id, got "${text}".`);
  });
}

/** Defines an optional parameter that accepts one of the choices. */
export function defineChoice<const Word extends string>(
  placeholder: string,
  description: ParameterDescription,
  choices: readonly Word[],
): OptionalParameter<Word> {
  const parseWord = (text: string): Word => {
    // Differences in case and separators do not matter.
    const word = findSpelling(text, choices);
    if (word !== null) return word;
    throw createUsageError(describeWrongWord(text, choices));
  };
  return { ...defineParsedText(placeholder, description, parseWord), choices };
}

/** Converts an optional parameter to one that the user must give. */
export function makeRequired<T>(parameter: OptionalParameter<T>): CommandParameter<T> {
  const parse: CommandParameter<T>['parse'] = (rawValue, io) => {
    const value = parameter.parse(rawValue, io);
    if (value === undefined) throw new Error(`expected ${parameter.placeholder}, got ${String(rawValue)}`);
    return value;
  };
  return { ...parameter, isRequired: true, parse };
}

/** Adds a default to an optional parameter. `defaultText` is parsed like text from the command line. */
export function withDefault<T>(parameter: OptionalParameter<T>, defaultText: string): CommandParameter<T> {
  return { ...makeRequired(parameter), isRequired: false, defaultText };
}

/** Defines an optional parameter for a past date or period. `usedEdge` says whether the start or the end of a period is used. */
export function definePastDate(
  description: string,
  usedEdge: PeriodEdge = 'end',
): OptionalParameter<TimeRange> {
  return defineParsedText(
    'date',
    // The help says whether a period means its start or its end.
    io => `${description}: ${describeDateForms(usedEdge, io.now())}`,
    (text, io) => parsePastRange(text, io.now()),
  );
}

/**
 * Defines an optional parameter for a non-negative integer. `name` is the parameter's name in error messages.
 */
export function defineWholeNumber(
  name: string,
  description: ParameterDescription,
): OptionalParameter<number> {
  return defineParsedText('n', description, text => parseWholeNumber(name, text));
}

/** Defines the option `--limit`, the maximum number of rows to show. The value 0 means no limit. */
export function defineRowLimit(defaultLimit: number): CommandParameter<number> {
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

/** Parses a non-negative integer. `name` is the parameter's name in the error for any other text. */
export function parseWholeNumber(name: string, text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw createUsageError(`${name}: expected a whole number, got "${text}".`);
}

/**
 * Returns the text unchanged. Throws a usage error if the text has an unprintable character. The error begins with `name`, the option that
 * has this text.
 */
export function requirePrintable(name: string, text: string): string {
  if (isPrintable(text)) return text;
  throw createUsageError(`${name}: expected printable text, got ${JSON.stringify(text)}.`);
}

/** Parses a past date or period such as `2026-Q1`. Throws if the text is invalid. */
export function parsePastRange(text: string, now: number): TimeRange {
  const range = parseTimeRange(text, now);
  if ('fault' in range) throw createUsageError(range.fault);
  return range;
}
