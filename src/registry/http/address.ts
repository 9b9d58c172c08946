import { excerpt, RegistryError } from '../errors.js';
import { isId } from '../model.js';

const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/** https, or http on a loopback address: tokens never travel in the clear. */
export function readBaseUrl(text: string): URL {
  const url = parseUrl(text);
  if (url === null) throw refused('the base URL', 'expected a URL');
  const secure = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.test(url.hostname));
  if (!secure) throw refused('the base URL', 'expected https, or http on a loopback address');
  if (url.username !== '' || url.password !== '') throw refused('the base URL', 'expected no user in it');
  if (url.search !== '' || url.hash !== '')
    throw refused('the base URL', 'expected no query and no fragment');
  return url;
}

/** Fills a route's `:names` with ids. Nothing else ever enters a path. */
export function fillRoute(route: string, params: Readonly<Record<string, string>> = {}): string {
  return route.replace(/:([A-Za-z]+)/g, (_whole, name: string) => {
    const id = params[name];
    if (!isId(id)) throw refused(name, `expected an id, came ${excerpt(id)}`);
    return id;
  });
}

export function withQuery(path: string, query: Readonly<Record<string, string>> = {}): string {
  const text = new URLSearchParams(query).toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The base URL's own path is kept, and nothing in `path` may change where the call goes. */
export function resolvePath(base: URL, path: string): URL {
  const prefix = base.pathname.replace(/\/+$/, '');
  const url = parseUrl(`${base.origin}${prefix}${path}`);
  const unchanged = url?.origin === base.origin && `${url.pathname}${url.search}` === `${prefix}${path}`;
  if (url === null || !unchanged || !isPlainPath(path)) {
    throw refused('the path', `expected a plain absolute path, came ${excerpt(path)}`);
  }
  return url;
}

function parseUrl(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}

function isPlainPath(path: string): boolean {
  const [way = ''] = path.split('?');
  return path.startsWith('/') && !way.includes('//') && !/%(2f|5c|00|2e)/i.test(way) && !way.includes('\\');
}

function refused(what: string, why: string): RegistryError {
  return new RegistryError('bad_request', `${what}: ${why}`);
}
