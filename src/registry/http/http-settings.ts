import { RegistryError } from '../errors.js';
import type { Fetch, HttpOptions } from './http-types.js';
import { DEFAULT_USER_AGENT } from './user-agent.js';
import { parseBaseUrl } from './url.js';

/**
 * Fills in defaults for the options of the HTTP client and validates them. Throws `bad_request` for invalid options or an
 * invalid base URL.
 */
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
    userAgent: options.userAgent ?? DEFAULT_USER_AGENT,
  };
  const functions = {
    now: options.now ?? Date.now,
    random: options.random ?? Math.random,
    fetch: options.fetch ?? callGlobalFetch,
  };
  const faults = Object.entries(settings).flatMap(([name, value]) =>
    typeof value === 'number' && !(value > 0) ? [`${name}: expected more than 0, got ${value}`] : [],
  );
  for (const [name, value] of Object.entries(functions))
    if (typeof value !== 'function') faults.push(`${name}: expected a function`);
  if (!/^[a-z][a-z0-9-]{0,40}$/i.test(settings.headerPrefix))
    faults.push('headerPrefix: expected a word of letters, digits and hyphens');
  if (!/^[\w.-]{1,40}$/.test(settings.apiVersion)) faults.push('apiVersion: expected a version');
  if (!/^(\/[\w-]+)+$/.test(settings.findPath)) faults.push('findPath: expected an absolute path');
  if (!/^[\x20-\x7e]{1,200}$/.test(settings.userAgent))
    faults.push('userAgent: expected printable ASCII text');
  if (settings.burst < 1) faults.push('burst: expected at least 1');
  if (faults.length > 0) throw new RegistryError('bad_request', faults.join('; '));
  const base = parseBaseUrl(options.baseUrl);
  if (isPublicRegistry(base) && settings.headerPrefix.toLowerCase() !== PUBLIC_PREFIX)
    throw new RegistryError('bad_request', `headerPrefix: expected "${PUBLIC_PREFIX}" for this registry`);
  return { ...settings, ...functions, base };
}

/** The header prefix of the International Carbon Registry. */
const PUBLIC_PREFIX = 'icr';

/** Whether a URL is one of the International Carbon Registry, which ignores headers with another prefix than its own. */
function isPublicRegistry({ hostname }: URL): boolean {
  return hostname === 'carbonregistry.com' || hostname.endsWith('.carbonregistry.com');
}

/** Calls the global `fetch` of the moment, which tests may replace after the client was created. */
const callGlobalFetch: Fetch = (url, init) => fetch(url, init);
