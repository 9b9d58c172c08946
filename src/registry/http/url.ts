import { formatExcerpt, RegistryError } from '../errors.js';
import { isId } from '../../text/checks.js';
import { isLoopbackHost } from '../../text/loopback.js';

/** Parses the base URL of a registry. Requires https, except for a loopback address such as localhost. */
export function parseBaseUrl(text: string): URL {
  const url = parseUrl(text);
  if (url === null) throw createBadRequestError('the base URL', 'expected a URL');
  // Tokens must be encrypted in transit.
  const isSecure = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
  if (!isSecure) throw createBadRequestError('the base URL', 'expected https, or http on a loopback address');
  if (url.username !== '' || url.password !== '')
    throw createBadRequestError('the base URL', 'expected no user name and no password in it');
  if (url.search !== '' || url.hash !== '')
    throw createBadRequestError('the base URL', 'expected no query and no fragment');
  return url;
}

/** Replaces the parameters of a route by ids: `/projects/:id` → `/projects/42`. Throws `bad_request` for a malformed id. */
export function fillRoute(route: string, params: Readonly<Record<string, string>> = {}): string {
  return route.replace(/:([A-Za-z]+)/g, (_placeholder, name: string) => {
    const id = params[name];
    if (!isId(id)) throw createBadRequestError(name, `expected an id, got ${formatExcerpt(id)}`);
    return id;
  });
}

/** Appends query parameters to a path: `/credits` → `/credits?page=2`. */
export function appendQuery(path: string, query: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** Appends a path to the base URL. Throws `bad_request` if URL parsing would change the path or the host. */
export function resolveUrl(base: URL, path: string): URL {
  const prefix = base.pathname.replace(/\/+$/, '');
  const url = parseUrl(`${base.origin}${prefix}${path}`);
  const isUnchanged = url?.origin === base.origin && `${url.pathname}${url.search}` === `${prefix}${path}`;
  if (url === null || !isUnchanged || !isPlainPath(path)) {
    throw createBadRequestError('the path', `expected a plain absolute path, got ${formatExcerpt(path)}`);
  }
  return url;
}

function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}

/** Whether a path has only plain segments, as in `/projects/42`. False for `//host`, `/a\b` and `/a%2Fb`. */
function isPlainPath(path: string): boolean {
  const [pathname = ''] = path.split('?');
  const hasEncodedSpecial = /%(2f|5c|00|2e)/i.test(pathname);
  return path.startsWith('/') && !pathname.includes('//') && !hasEncodedSpecial && !pathname.includes('\\');
}

function createBadRequestError(subject: string, expectation: string): RegistryError {
  return new RegistryError('bad_request', `${subject}: ${expectation}`);
}
