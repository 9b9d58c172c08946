import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { HEADERS } from './headers.js';
import type { Keys } from './keys.js';

export interface GuardOptions {
  readonly keys: Keys;
  /** Further names by which a proxy or a tunnel calls us. */
  readonly names: readonly string[];
  /** Consoles at other ports of this machine share our cookies with us: each has its own name. */
  readonly port: () => number;
}

const KEY = 'key';
const LOOPBACK = ['localhost', '127.0.0.1', '[::1]'];
const HOST = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+?)\.?(:\d{1,5})?$/i;
/** Two slashes, of either kind, would begin another host. */
const PATH = /^\/(?![/\\])/;
/** A path is read as one below it, whatever we are called. */
export const ORIGIN = 'http://console';
const SAFE = ['GET', 'HEAD'];

/** Who gets in, before anything else is done: each question in its order, and nothing is told to those who do not. */
export function createGuard({ keys, names, port }: GuardOptions): RequestHandler {
  const cookie = () => `carbon-mirror-${port()}`;

  function exchange(request: Request, response: Response): void {
    const { searchParams, pathname } = new URL(request.url, ORIGIN);
    const visit = keys.exchange(searchParams.get(KEY) ?? '');
    if (visit === null && !isIn(request)) return refuse(response, 401, USED);
    searchParams.delete(KEY);
    const rest = searchParams.size === 0 ? '' : `?${searchParams.toString()}`;
    if (visit !== null) response.cookie(cookie(), visit, { httpOnly: true, sameSite: 'lax', path: '/' });
    response.redirect(303, `${pathname.replace(/^\/+/, '/')}${rest}`);
  }

  const isIn = (request: Request): boolean =>
    cookiesOf(request).some(([name, value]) => name === cookie() && keys.isVisitor(value));

  return (request: Request, response: Response, next: NextFunction) => {
    response.set(HEADERS);
    if (!PATH.test(request.url) || !URL.canParse(request.url, ORIGIN))
      return refuse(response, 400, 'Expected a path.');
    if (!isOurName(request, names)) return refuse(response, 421, NOT_OURS);
    if (!isOwnPage(request)) return refuse(response, 403, FOREIGN);
    if (request.method === 'GET' && KEY in request.query) return exchange(request, response);
    if (!isIn(request)) return refuse(response, 401, NO_KEY);
    return next();
  };
}

const NOT_OURS =
  'This console answers only to localhost and loopback addresses. Add other names, such as that of a tunnel, to CONSOLE_NAMES.';
const FOREIGN = 'This request did not come from a page of this console.';
const NO_KEY = 'Sign in with the address that "carbon-mirror console url" prints.';
const USED =
  'This sign-in link has expired or was already used. Run "carbon-mirror console url" for a new one.';

/**
 * Whether a request calls us by a name of ours. Somebody may point a name of theirs at this machine: to a browser our
 * pages would then be theirs. The port does not matter: a tunnel has another one.
 */
function isOurName({ headers }: Request, names: readonly string[]): boolean {
  const name = HOST.exec(headers.host ?? '')?.[1]?.toLowerCase();
  return name !== undefined && [...LOOPBACK, ...names].includes(name);
}

/** Whether what changes something was sent by a page of ours. Only over https or on loopback does a browser say so itself. */
function isOwnPage({ method, headers }: Request): boolean {
  if (SAFE.includes(method)) return true;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  const [, origin = null] = /^https?:\/\/([^/]+)$/.exec(headers.origin ?? '') ?? [];
  return origin === headers.host;
}

/** Whoever does not get in costs one answer and the connection. */
function refuse(response: Response, status: number, sentence: string): void {
  response.status(status).set('connection', 'close').type('text/plain').send(`${sentence}\n`);
}

function cookiesOf(request: Request): readonly (readonly [string, string])[] {
  return (request.headers.cookie ?? '').split(';').map(pair => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at).trim(), pair.slice(at + 1).trim()] as const;
  });
}
