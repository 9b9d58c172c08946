import { SETTINGS } from './settings-table.js';
import type { Environment } from './define-setting.js';
import { maskUrl, isPossibleSecret } from './mask-setting.js';

/** Returns all secrets in the settings, including each item of comma-separated lists. */
export function listSecretValues(env: Environment): string[] {
  return SETTINGS.filter(({ secret }) => secret).flatMap(({ name }) => {
    const value = env[name] ?? '';
    return [value, ...value.split(',')];
  });
}

/** Creates a function that masks URLs and possible secrets from the settings in a text. */
export function createValueMasker(env: Environment): (text: string) => string {
  const replacements = SETTINGS.flatMap(({ name, secret }) => {
    const value = env[name] ?? '';
    const isHidden = /\S{16}/.test(value) && (secret || isPossibleSecret(name, value));
    const shown = maskUrl(value) ?? (isHidden ? `[${name}]` : value);
    return shown === value ? [] : [{ value, shown }];
  }).toSorted((a, b) => b.value.length - a.value.length);
  return text => replacements.reduce((masked, { value, shown }) => masked.replaceAll(value, shown), text);
}
