import { SETTINGS } from './settings.js';
import type { Environment } from './setting.js';
import { maskUrl, isPossibleSecret } from './format-value.js';

/** All texts of these settings that nobody may see. */
export function listSecretValues(env: Environment): string[] {
  return SETTINGS.filter(({ secret }) => secret).flatMap(({ name }) => {
    const value = env[name] ?? '';
    return [value, ...value.split(',')];
  });
}

/** Masks the URLs of settings, and puts the name of a setting where its value stands, if that could be a secret. */
export function createValueMasker(env: Environment): (text: string) => string {
  const hidden = SETTINGS.flatMap(({ name, secret }) => {
    const value = env[name] ?? '';
    const isHidden = /\S{16}/.test(value) && (secret || isPossibleSecret(name, value));
    const shown = maskUrl(value) ?? (isHidden ? `[${name}]` : value);
    return shown === value ? [] : [{ value, shown }];
  }).toSorted((a, b) => b.value.length - a.value.length);
  return text => hidden.reduce((left, { value, shown }) => left.replaceAll(value, shown), text);
}
