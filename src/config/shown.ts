import { SETTINGS } from './settings.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** A secret that was pasted into the wrong setting: long and without a space, or with its own look. */
const LIKE_A_SECRET = /\S{16}|[@=\n]|-----|^cr[su]_/;
/** Long and no secret: an address without a user, and a UUID. */
const PLAIN = /^https?:\/\/[^\s@?#]+$|^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const NAME_OF_A_PLACE = /_(DIR|FILE|PATH)$/;
const USUAL_NAME = /^(?=.{1,40}$)[A-Z]+(_[A-Z]+)*$/;

/** The value of a setting in a sentence about what is wrong with it. */
export function shownValue(value = ''): string {
  if (LIKE_A_SECRET.test(value)) return `a text of ${value.length} characters that is not shown`;
  return JSON.stringify(value);
}

/** A name from a file that may be no file of settings at all. */
export function shownName(name: string): string {
  return USUAL_NAME.test(name) ? name : `a name of ${name.length} characters that is not shown`;
}

/** All texts of these settings that nobody may see. */
export function secretValues(env: Environment): string[] {
  return SETTINGS.filter(({ secret }) => secret).flatMap(({ name }) => {
    const value = env[name] ?? '';
    return [value, ...value.split(',')];
  });
}

/** Puts the name of a setting where its value stands, if that could be a secret. */
export function hideValues(env: Environment): (text: string) => string {
  const hidden = SETTINGS.flatMap(({ name }) => {
    const value = env[name] ?? '';
    return mayBeSecret(name, value) ? [{ name, value }] : [];
  }).toSorted((a, b) => b.value.length - a.value.length);
  return text => hidden.reduce((left, { name, value }) => left.replaceAll(value, `[${name}]`), text);
}

function mayBeSecret(name: string, value: string): boolean {
  if (!/\S{16}/.test(value) || PLAIN.test(value)) return false;
  return !(NAME_OF_A_PLACE.test(name) && /^\.{0,2}\//.test(value));
}
