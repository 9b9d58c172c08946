import { PrivateKeyError, readPrivateKey } from '../../registry/auth/private-key.js';
import { isLoopbackHost } from '../../text/loopback.js';
import { type OutboundRange, parseOutboundRanges } from '../outbound/address-ranges.js';
import type { SettingParser } from './define-setting.js';

/** Shorter secrets can be guessed, and an HMAC with an empty one verifies without complaint. */
const MIN_SECRET_CHARACTERS = 16;
/** A random text of sixteen hexadecimal digits has about ten distinct ones. */
const MIN_DISTINCT_CHARACTERS = 6;
const PLACEHOLDER =
  /^<.*>$|^\$\{.*\}$|change[-_ ]?me|^your[-_ ]|replace[-_ ]|example|placeholder|^(secret|password|webhook|test)[-_ ]?(secret|password|key)?\d*$/i;

/**
 * Creates a parser that accepts a text if `isValid` returns true. `expected` describes valid texts in error messages.
 */
export function createTextParser(
  expected: string,
  isValid: (value: string) => boolean | Promise<boolean>,
): SettingParser<string> {
  return async text => (text !== undefined && (await isValid(text)) ? { value: text } : { expected });
}

/** Creates a parser that accepts texts that match `pattern`. `expected` describes valid texts in error messages. */
export function createPatternParser(expected: string, pattern: RegExp): SettingParser<string> {
  return createTextParser(expected, value => pattern.test(value));
}

/** Creates a parser that runs `parse` and then converts the parsed value. */
export function convertParsed<T, U>(parse: SettingParser<T>, convert: (value: T) => U): SettingParser<U> {
  return async text => {
    const result = await parse(text);
    return 'value' in result ? { value: convert(result.value) } : result;
  };
}

/** Creates a parser that returns `absentValue` if the setting is not set, and otherwise runs `parse`. */
export function makeOptional<T, A>(parse: SettingParser<T>, absentValue: A): SettingParser<T | A> {
  return async text => (text === undefined ? { value: absentValue } : await parse(text));
}

/** Creates a parser for numbers from `min` to `max` whose text matches `pattern`. */
export function createNumberParser(
  expected: string,
  pattern: RegExp,
  min: number,
  max: number,
): SettingParser<number> {
  const isValid = (value: string) => pattern.test(value) && Number(value) >= min && Number(value) <= max;
  return convertParsed(createTextParser(expected, isValid), Number);
}

/** Creates a parser for integers from `min` to `max`. */
export function createIntegerParser(min: number, max: number): SettingParser<number> {
  return createNumberParser(`a whole number from ${min} to ${max}`, /^\d{1,9}$/, min, max);
}

/** Creates a parser that accepts only the words in `choices`. */
export function createChoiceParser<const Choice extends string>(
  choices: readonly Choice[],
): SettingParser<Choice> {
  return async text => {
    const value = choices.find(choice => choice === text);
    return value === undefined ? { expected: `one of ${choices.join(', ')}` } : { value };
  };
}

/** Parses the address of the registry, without a slash at the end. */
export const parseBaseUrl = convertParsed(
  createTextParser('an https address, or http on a loopback one, without user, query or fragment', isBaseUrl),
  url => new URL(url).href.replace(/\/+$/, ''),
);

/**
 * Checks a cron expression. Dates, which croner also accepts, are refused: they would run once and never again. croner is
 * loaded only for this setting, so that roles without a schedule start without it.
 */
export const parseSchedule = createTextParser(
  'a cron expression of five fields, such as */15 * * * *',
  async value => {
    const fieldCount = value.trim().split(/\s+/).length;
    if (!/^@(hourly|daily|weekly|monthly)$/.test(value) && (fieldCount < 5 || fieldCount > 6)) return false;
    const { Cron } = await import('croner');
    try {
      return new Cron(value, { paused: true, utcOffset: 0 }).nextRun(new Date(0)) !== null;
    } catch {
      return false;
    }
  },
);

/** Parses host names separated by commas. Returns them in lower case. */
export const parseHostNames = convertParsed(
  makeOptional(createPatternParser('host names, separated by commas', /^[\w.,-]+$/), ''),
  list =>
    list
      .toLowerCase()
      .split(',')
      .filter(name => name !== ''),
);

/** Parses origins of web pages separated by commas. `*` is refused, because a token is meant for one page. */
export const parseOrigins: SettingParser<readonly string[]> = async text => {
  const origins = (text ?? '').split(',').filter(origin => origin !== '');
  const isOrigin = (origin: string) =>
    URL.canParse(origin) && /^https?:/.test(origin) && new URL(origin).origin === origin;
  return origins.every(isOrigin)
    ? { value: origins }
    : { expected: 'origins such as https://shop.example.org, separated by commas' };
};

/** Parses ranges of addresses, separated by commas. */
export const parseOutboundAllow: SettingParser<readonly OutboundRange[]> = async text => {
  const value = parseOutboundRanges(text ?? '');
  return value === null ? { expected: 'loopback, private, or both separated by a comma' } : { value };
};

/** Checks a private key and returns its PEM text unchanged. */
export const parsePrivateKey: SettingParser<string> = async text => {
  if (text === undefined) return { expected: "the app's private key as PEM text" };
  try {
    readPrivateKey(text);
    return { value: text };
  } catch (error) {
    if (!(error instanceof PrivateKeyError)) throw error;
    return { expected: error.message.replace(/^expected /, '') };
  }
};

/** Parses webhook secrets, separated by commas or line breaks, and refuses those that can be guessed. */
export const parseWebhookSecrets: SettingParser<readonly string[]> = async text => {
  if (text === undefined) return { expected: SECRETS_EXPECTED };
  const secrets = text.split(/,[\r\n]*|[\r\n]+/).map(secret => secret.trim());
  const faults = secrets.map((secret, index) =>
    findSecretFault(secret, `number ${index + 1} of ${secrets.length}`),
  );
  const expected = faults.find(fault => fault !== null);
  return expected === undefined ? { value: secrets } : { expected };
};

const SECRETS_EXPECTED = `secrets of at least ${MIN_SECRET_CHARACTERS} characters without a comma, separated by commas`;

/**
 * Returns an error message if a secret is too short or easy to guess, otherwise null. The message names the secret by its
 * `position`, such as "number 2 of 3".
 */
export function findSecretFault(secret: string, position: string): string | null {
  // The message shows the position, such as "number 2 of 3", because it must not show the secret.
  if (secret.length < MIN_SECRET_CHARACTERS) {
    return `at least ${MIN_SECRET_CHARACTERS} characters in each secret, but secret ${position} has ${secret.length}; a comma separates secrets and cannot be part of one`;
  }
  const weakness = findWeakness(secret);
  return weakness === null
    ? null
    : `random secrets, such as from openssl rand -hex 32, but secret ${position} is weak: ${weakness}`;
}

/** Returns whether a text is the base URL of a server that uses https or runs on this machine. */
function isBaseUrl(value: string): boolean {
  if (!URL.canParse(value) || /[?#@\s]/.test(value)) return false;
  const { protocol, hostname, username, password } = new URL(value);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}

/** Returns why a secret is easy to guess, such as "it is a placeholder". Returns null if it is not. */
function findWeakness(secret: string): string | null {
  if (/^(["'`]).*\1$/.test(secret)) return 'it has quotes around it';
  if (PLACEHOLDER.test(secret)) return 'it is a placeholder';
  if (new Set(secret).size < MIN_DISTINCT_CHARACTERS) return 'it is made of a few characters only';
  return null;
}
