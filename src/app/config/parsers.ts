import { PrivateKeyError, readPrivateKey } from '../../registry/auth/private-key.js';
import type { SettingParser } from './setting.js';

/** Shorter secrets can be guessed, and an HMAC with an empty one verifies without complaint. */
const MIN_SECRET_CHARACTERS = 16;
/** A random text of sixteen hexadecimal digits has about ten. */
const FEWEST_DISTINCT = 6;
const PLACEHOLDER =
  /^<.*>$|^\$\{.*\}$|change[-_ ]?me|^your[-_ ]|replace[-_ ]|example|placeholder|^(secret|password|webhook|test)[-_ ]?(secret|password|key)?\d*$/i;
const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

export function createTextParser(
  expected: string,
  fits: (value: string) => boolean | Promise<boolean>,
): SettingParser<string> {
  return async given => (given !== undefined && (await fits(given)) ? { value: given } : { expected });
}

export function createPatternParser(expected: string, shape: RegExp): SettingParser<string> {
  return createTextParser(expected, value => shape.test(value));
}

/** The same, made something else of. */
export function convertParsed<T, U>(read: SettingParser<T>, make: (value: T) => U): SettingParser<U> {
  return async given => {
    const reading = await read(given);
    return 'value' in reading ? { value: make(reading.value) } : reading;
  };
}

/** What need not be set. */
export function makeOptional<T, A>(read: SettingParser<T>, absent: A): SettingParser<T | A> {
  return async given => (given === undefined ? { value: absent } : await read(given));
}

export function createNumberParser(
  expected: string,
  shape: RegExp,
  least: number,
  most: number,
): SettingParser<number> {
  const fits = (value: string) => shape.test(value) && Number(value) >= least && Number(value) <= most;
  return convertParsed(createTextParser(expected, fits), Number);
}

export function createIntegerParser(least: number, most: number): SettingParser<number> {
  return createNumberParser(`a whole number from ${least} to ${most}`, /^\d{1,9}$/, least, most);
}

export function createChoiceParser<const Word extends string>(words: readonly Word[]): SettingParser<Word> {
  return async given => {
    const value = words.find(word => word === given);
    return value === undefined ? { expected: `one of ${words.join(', ')}` } : { value };
  };
}

export const parseBaseUrl = convertParsed(
  createTextParser('an https address, or http on a loopback one, without user, query or fragment', isBaseUrl),
  url => new URL(url).href.replace(/\/+$/, ''),
);

/** croner also takes a date, which would run once and then never again. It is loaded by who reads a schedule alone. */
export const parseSchedule = createTextParser(
  'a cron expression of five fields, such as */15 * * * *',
  async value => {
    const fields = value.trim().split(/\s+/).length;
    if (!/^@(hourly|daily|weekly|monthly)$/.test(value) && (fields < 5 || fields > 6)) return false;
    const { Cron } = await import('croner');
    try {
      return new Cron(value, { paused: true, utcOffset: 0 }).nextRun(new Date(0)) !== null;
    } catch {
      return false;
    }
  },
);

export const parseHostNames = convertParsed(
  makeOptional(createPatternParser('host names, separated by commas', /^[\w.,-]+$/), ''),
  list =>
    list
      .toLowerCase()
      .split(',')
      .filter(name => name !== ''),
);

export const parsePrivateKey: SettingParser<string> = async given => {
  if (given === undefined) return { expected: "the app's private key as PEM text" };
  try {
    readPrivateKey(given);
    return { value: given };
  } catch (error) {
    if (!(error instanceof PrivateKeyError)) throw error;
    return { expected: error.message.replace(/^expected /, '') };
  }
};

export const parseWebhookSecrets: SettingParser<readonly string[]> = async given => {
  if (given === undefined) return { expected: SECRETS_EXPECTED };
  const value = given.split(/,[\r\n]*|[\r\n]+/).map(each => each.trim());
  const faults = value.map((secret, index) =>
    findSecretFault(secret, `number ${index + 1} of ${value.length}`),
  );
  const expected = faults.find(fault => fault !== null);
  return expected === undefined ? { value } : { expected };
};

const SECRETS_EXPECTED = `secrets of at least ${MIN_SECRET_CHARACTERS} characters without a comma, separated by commas`;

function findSecretFault(secret: string, which: string): string | null {
  if (secret.length < MIN_SECRET_CHARACTERS) {
    return `at least ${MIN_SECRET_CHARACTERS} characters in each secret, not ${secret.length} as in ${which}; a comma ends a secret, so none can hold one`;
  }
  const weakness = findWeakness(secret);
  return weakness === null ? null : `random secrets (openssl rand -hex 32), but of ${which}: ${weakness}`;
}

function isBaseUrl(value: string): boolean {
  if (!URL.canParse(value) || /[?#@\s]/.test(value)) return false;
  const { protocol, hostname, username, password } = new URL(value);
  if (username !== '' || password !== '') return false;
  return protocol === 'https:' || (protocol === 'http:' && LOOPBACK.test(hostname));
}

/** Why a secret that is long enough can be guessed all the same, in words that do not show it; null where it cannot. */
function findWeakness(secret: string): string | null {
  if (/^(["'`]).*\1$/.test(secret)) return 'it has quotes around it';
  if (PLACEHOLDER.test(secret)) return 'it is a placeholder';
  if (new Set(secret).size < FEWEST_DISTINCT) return 'it is made of a few characters only';
  return null;
}
