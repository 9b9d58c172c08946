import { RegistryError } from '../errors.js';
import type { HttpOptions } from './http-types.js';
import { parseBaseUrl } from './url.js';

/** Fills in default settings and validates them. Throws one error that lists all invalid options. */
export function resolveHttpSettings(options: HttpOptions) {
  const settings = {
    headerPrefix: options.headerPrefix ?? 'registry',
    apiVersion: options.apiVersion ?? '2023-06-16',
    findPath: options.findPath ?? '/projects/find',
    requestsPerSecond: options.requestsPerSecond ?? 20,
    burst: options.burst ?? 40,
    concurrency: options.concurrency ?? 8,
    deadlineMs: options.deadlineMs ?? 30_000,
    streamDeadlineMs: options.streamDeadlineMs ?? 300_000,
    maxBytes: options.maxBytes ?? 2 * 1024 * 1024,
    maxStreamBytes: options.maxStreamBytes ?? 1024 * 1024 * 1024,
    attempts: options.attempts ?? 4,
    maxRetryWaitMs: options.maxRetryWaitMs ?? 5_000,
  };
  const faults = Object.entries(settings).flatMap(([name, value]) =>
    typeof value === 'number' && !(value > 0) ? [`${name}: expected more than 0, got ${value}`] : [],
  );
  for (const name of ['now', 'random'] as const)
    if (typeof options[name] !== 'function')
      faults.push(`${name}: expected a function that returns a number`);
  if (!/^[a-z][a-z0-9-]{0,40}$/i.test(settings.headerPrefix))
    faults.push('headerPrefix: expected a word of letters, digits and hyphens');
  if (!/^[\w.-]{1,40}$/.test(settings.apiVersion)) faults.push('apiVersion: expected a version');
  if (!/^(\/[\w-]+)+$/.test(settings.findPath)) faults.push('findPath: expected an absolute path');
  if (settings.burst < 1) faults.push('burst: expected at least 1');
  if (faults.length > 0) throw new RegistryError('bad_request', faults.join('; '));
  return { ...settings, base: parseBaseUrl(options.baseUrl) };
}
