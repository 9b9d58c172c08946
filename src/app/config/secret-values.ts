import { SETTINGS } from './settings.js';
import type { Environment } from './setting.js';
import { maskUrl, isPossibleSecret } from './format-value.js';

/** Lists the values of all secret settings, and each part of those with commas. */
export function listSecretValues(env: Environment): string[] {
  return SETTINGS.filter(({ secret }) => secret).flatMap(({ name }) => {
    const value = env[name] ?? '';
    return [value, ...value.split(',')];
  });
}

/**
 * Creates a function that hides values of settings in a text: it masks URLs, and replaces values that could be secrets with
 * the name of their setting.
 */
export function createValueMasker(env: Environment): (text: string) => string {
  const replacements = SETTINGS.flatMap(({ name, secret }) => {
    const value = env[name] ?? '';
    const isHidden = /\S{16}/.test(value) && (secret || isPossibleSecret(name, value));
    const shown = maskUrl(value) ?? (isHidden ? `[${name}]` : value);
    return shown === value ? [] : [{ value, shown }];
  }).toSorted((a, b) => b.value.length - a.value.length);
  return text => replacements.reduce((masked, { value, shown }) => masked.replaceAll(value, shown), text);
}
