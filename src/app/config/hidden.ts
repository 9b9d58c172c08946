import { SETTINGS } from './settings.js';
import type { Environment } from './row.js';

/** Long and no secret: an address without a user, and a UUID. */
const PLAIN = /^https?:\/\/[^\s@?#]+$|^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i;
const NAME_OF_A_PLACE = /_(DIR|FILE|PATH)$/;

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
