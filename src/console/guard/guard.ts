import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { HEADERS } from './headers.js';
import type { VisitorKeys } from './keys.js';

export interface GuardOptions {
  readonly keys: VisitorKeys;
  /** Further host names, such as that of a proxy or a tunnel. */
  readonly hostNames: readonly string[];
  /** Part of the cookie's name: consoles on other ports of this machine share our cookies. */
  readonly port: () => number;
}

const KEY = 'key';
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+?)\.?(:\d{1,5})?$/i;
/** A second slash or backslash would start a host name. */
const PATH = /^\/(?![/\\])/;
/** Base for parsing relative URLs; never shown. */
export const ORIGIN = 'http://console';
const SAFE = ['GET', 'HEAD'];

/** Creates the middleware that checks every request first: host name, then origin, then cookie or sign-in key.
 * A rejected request learns nothing else and loses its connection. */
export function createGuard({ keys, hostNames: names, port }: GuardOptions): RequestHandler {
  const cookie = () => `carbon-mirror-${port()}`;

  function exchange(request: Request, response: Response): void {
    const { searchParams, pathname } = new URL(request.url, ORIGIN);
    const visit = keys.exchange(searchParams.get(KEY) ?? '');
    if (visit === null && !isIn(request)) return rejectRequest(response, 401, LINK_EXPIRED);
    searchParams.delete(KEY);
    const rest = searchParams.size === 0 ? '' : `?${searchParams.toString()}`;
    if (visit !== null) response.cookie(cookie(), visit, { httpOnly: true, sameSite: 'lax', path: '/' });
    response.redirect(303, `${pathname.replace(/^\/+/, '/')}${rest}`);
  }

  const isIn = (request: Request): boolean =>
    parseCookies(request).some(([name, value]) => name === cookie() && keys.isVisitor(value));

  return (request: Request, response: Response, next: NextFunction) => {
    response.set(HEADERS);
    if (!PATH.test(request.url) || !URL.canParse(request.url, ORIGIN))
      return rejectRequest(response, 400, 'Expected a path.');
    if (!isAllowedHost(request, names)) return rejectRequest(response, 421, UNKNOWN_HOST);
    if (!isSameOrigin(request)) return rejectRequest(response, 403, CROSS_SITE);
    if (request.method === 'GET' && KEY in request.query) return exchange(request, response);
    if (!isIn(request)) return rejectRequest(response, 401, NOT_SIGNED_IN);
    return next();
  };
}

const UNKNOWN_HOST =
  'This console answers only to localhost and loopback addresses. Add other names, such as that of a tunnel, to CONSOLE_NAMES.';
const CROSS_SITE = 'This request did not come from a page of this console.';
const NOT_SIGNED_IN = 'Sign in with the address that "carbon-mirror console url" prints.';
const LINK_EXPIRED =
  'This sign-in link has expired or was already used. Run "carbon-mirror console url" for a new one.';

/**
 * Whether the Host header is an allowed name. This stops DNS rebinding, where a foreign name points at this machine.
 * The port does not matter, because a tunnel has another one.
 */
function isAllowedHost({ headers }: Request, names: readonly string[]): boolean {
  const name = HOST.exec(headers.host ?? '')?.[1]?.toLowerCase();
  return name !== undefined && [...LOOPBACK, ...names].includes(name);
}

/** Whether a request that may change something comes from our own pages. Browsers send Sec-Fetch-Site only over https or on loopback; otherwise Origin is compared. */
function isSameOrigin({ method, headers }: Request): boolean {
  if (SAFE.includes(method)) return true;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const [, origin = null] = /^https?:\/\/([^/]+)$/.exec(headers.origin ?? '') ?? [];
  return origin === headers.host;
}

/** Rejects a request and closes its connection. */
function rejectRequest(response: Response, status: number, sentence: string): void {
  response.status(status).set('connection', 'close').type('text/plain').send(`${sentence}\n`);
}

function parseCookies(request: Request): readonly (readonly [string, string])[] {
  return (request.headers.cookie ?? '').split(';').map(pair => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const;
  });
}
