import { SETTINGS } from './settings-table.js';
import type { Environment } from './define-setting.js';
import { maskUrl, isPossibleSecret } from './mask-setting.js';

/**
 * Returns the values of all secret settings, and each item of comma-separated values. Settings that are not set give empty
 * texts.
 */
export function listSecretValues(env: Environment): string[] {
  return SETTINGS.filter(({ secret }) => secret).flatMap(({ name }) => {
    const value = env[name] ?? '';
    return [value, ...value.split(',')];
  });
}

/**
 * Creates a function that masks the values of settings in a text if they are possible secrets, or URLs with credentials or a
 * query.
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
