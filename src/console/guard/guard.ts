import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { renderNoticePage } from '../../text/notice-page.js';
import { html } from '../components/html.js';
import { createNoticeHeaders, HEADERS } from './security-headers.js';
import type { ProxySignIn } from './proxy-sign-in.js';
import type { VisitorKeys } from './visitor-keys.js';
import { PAGE_TOKEN_FIELD, getVisitor, setVisitor, type Visitor } from './visitor.js';

export interface GuardOptions {
  readonly keys: VisitorKeys;
  /** Further host names, such as that of a proxy or a tunnel. */
  readonly hostNames: readonly string[];
  /** Returns the port of this console. The cookie name contains the port, because browsers share cookies between ports. */
  readonly port: () => number;
  /** Identifies visitors by a header of the company's proxy. Null if visitors sign in with a link. */
  readonly proxySignIn: ProxySignIn | null;
}

/** URL parameter of the sign-in key. */
const KEY = 'key';
const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];
const HOST_HEADER = /^(\[[0-9a-f:.]+\]|[a-z0-9_.-]+?)\.?(:\d{1,5})?$/i;
/** A second slash or backslash would start a host name. */
const URL_PATH = /^\/(?![/\\])/;
/** Base for parsing relative URLs; never shown. */
export const ORIGIN = 'http://console';
const SAFE_METHODS = ['GET', 'HEAD'];

/** Creates the middleware that checks the host name, the origin and the sign-in of every request. */
export function createGuard({ keys, hostNames, port, proxySignIn }: GuardOptions): RequestHandler {
  const getCookieName = () => `carbon-mirror-${port()}`;

  /**
   * Exchanges the sign-in key in the URL for a cookie and redirects to the URL without the key. Sends status 401 if the key
   * is invalid and the visitor is not signed in yet.
   */
  function signIn(request: Request, response: Response): void {
    const { searchParams, pathname } = new URL(request.url, ORIGIN);
    const visitorKey = keys.exchangeSignInKey(searchParams.get(KEY) ?? '');
    if (visitorKey === null && findVisitorKey(request) === null)
      return rejectRequest(response, 401, LINK_EXPIRED);
    searchParams.delete(KEY);
    const query = searchParams.size === 0 ? '' : `?${searchParams.toString()}`;
    if (visitorKey !== null)
      response.cookie(getCookieName(), visitorKey, { httpOnly: true, sameSite: 'lax', path: '/' });
    response.redirect(303, `${pathname.replace(/^\/+/, '/')}${query}`);
  }

  /** Returns the valid visitor key among the cookies of a request, or null if there is none. */
  const findVisitorKey = (request: Request): string | null => {
    const cookies = parseCookies(request).filter(([name]) => name === getCookieName());
    return cookies.map(([, value]) => value).find(value => keys.isVisitorKey(value)) ?? null;
  };

  /** Returns the visitor who signed in with a link. Returns null if the request has no valid cookie. */
  function identifyByCookie(request: Request): Visitor | null {
    const visitorKey = findVisitorKey(request);
    return visitorKey === null ? null : { name: null, mayAct: true, ...keys.createPageToken(visitorKey) };
  }

  /**
   * Returns the visitor whom the sign-in proxy names, with a page token. Returns null if the request cannot sign in through
   * the proxy.
   */
  function identifyByProxy(request: Request, identify: ProxySignIn): Visitor | null {
    const visitor = identify(request);
    return visitor === null ? null : { ...visitor, ...keys.createPageToken(`proxy ${visitor.name}`) };
  }

  return (request: Request, response: Response, next: NextFunction) => {
    response.set(HEADERS);
    if (!URL_PATH.test(request.url) || !URL.canParse(request.url, ORIGIN))
      return rejectRequest(response, 400, 'Expected a path.');
    if (!isAllowedHost(request, hostNames)) return rejectRequest(response, 421, UNKNOWN_HOST);
    if (!isSameOrigin(request)) return rejectRequest(response, 403, CROSS_SITE);
    if (proxySignIn === null && request.method === 'GET' && KEY in request.query)
      return signIn(request, response);
    const visitor = proxySignIn === null ? identifyByCookie(request) : identifyByProxy(request, proxySignIn);
    if (visitor === null)
      return rejectRequest(response, 401, proxySignIn === null ? NOT_SIGNED_IN : NOT_FROM_PROXY);
    setVisitor(response, visitor);
    return next();
  };
}

/** Refuses a form without the page token of its visitor. Runs after the body was read. */
export const checkPageToken: RequestHandler = (request, response, next) => {
  const body: unknown = request.body;
  const tokens = new URLSearchParams(typeof body === 'string' ? body : '').getAll(PAGE_TOKEN_FIELD);
  const isValid = tokens.length === 1 && tokens.every(getVisitor(response).isPageToken);
  return isValid ? next() : rejectRequest(response, 403, OLD_PAGE);
};

const UNKNOWN_HOST =
  'This console answers only to localhost and loopback addresses. Add other names, such as that of a tunnel, to CONSOLE_NAMES.';
const CROSS_SITE = 'This request did not come from a page of this console.';
const NOT_SIGNED_IN = 'Sign in with the address that "carbon-mirror console url" prints.';
const NOT_FROM_PROXY = 'This console is open only to visitors who are signed in by the proxy in front of it.';
const OLD_PAGE = 'This page is too old to send forms. Go back, reload the page and try again.';
const LINK_EXPIRED =
  'This sign-in link has expired or was already used. Run "carbon-mirror console url" for a new one.';

/** Returns whether the Host header contains an allowed name. Checking the name prevents DNS rebinding. */
function isAllowedHost({ headers }: Request, hostNames: readonly string[]): boolean {
  const name = HOST_HEADER.exec(headers.host ?? '')?.[1]?.toLowerCase();
  // Any port is allowed, because a tunnel has another port.
  return name !== undefined && [...LOOPBACK_NAMES, ...hostNames].includes(name);
}

/** Returns whether a request comes from a page of this console. Always returns true for GET and HEAD. */
function isSameOrigin({ method, headers }: Request): boolean {
  if (SAFE_METHODS.includes(method)) return true;
  // Browsers send Sec-Fetch-Site only over https or on loopback, but Origin with every form.
  if ((headers['sec-fetch-site'] ?? 'same-origin') !== 'same-origin') return false;
  const [, origin = null] = /^https?:\/\/([^/]+)$/.exec(headers.origin ?? '') ?? [];
  return origin === headers.host;
}

/** Sends an error status with a sentence, then closes the connection. Browsers get a page, and programs plain text. */
function rejectRequest(response: Response, status: number, sentence: string): void {
  response.status(status).set('connection', 'close');
  if (response.req.accepts(['text', 'html']) === 'html')
    response.set(createNoticeHeaders()).type('html').send(renderRejection(status, sentence));
  else response.type('text/plain').send(`${sentence}\n`);
}

const REJECTION_TITLES: Readonly<Record<number, string>> = {
  401: 'Sign in',
  403: 'Request refused',
  421: 'Unknown host name',
};

/** Renders the page of a refused request. Shows each quoted part of the sentence in a <code> element. */
function renderRejection(status: number, sentence: string): string {
  const title = REJECTION_TITLES[status] ?? 'Bad request';
  const content = html`<p>${sentence.split(/"([^"]*)"/).map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}</p>`;
  return renderNoticePage({ title: `${title} – carbon-mirror`, heading: title, content: content.text });
}

/** Returns the names and values of the cookies of a request. */
function parseCookies(request: Request): readonly (readonly [name: string, value: string])[] {
  return (request.headers.cookie ?? '').split(';').map(pair => {
    const separator = pair.indexOf('=');
    return [pair.slice(0, separator).trim(), pair.slice(separator + 1).trim()] as const;
  });
}
