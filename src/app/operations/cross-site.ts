import type { IncomingHttpHeaders } from 'node:http';

export interface RequestRefusal {
  readonly status: 403 | 421;
  readonly detail: string;
}

const LOOPBACK_ADDRESS = /^((::ffff:)?127(\.\d{1,3}){3}|::1)$/;
const LOOPBACK_HOST = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i;

export function isLoopbackAddress(address: string): boolean {
  return LOOPBACK_ADDRESS.test(address);
}

/**
 * Why a request is a page's of another site; null where it is none. On loopback only this machine calls, and never by
 * a name that somebody bent to it. Elsewhere probes and scrapers may call by any name. Whoever sends no Host is no browser.
 */
export function findRequestRefusal(headers: IncomingHttpHeaders, onLoopback: boolean): RequestRefusal | null {
  if (headers['sec-fetch-site'] === 'cross-site') {
    return { status: 403, detail: 'a page of another site asked for this: it is not for pages' };
  }
  const { host } = headers;
  if (!onLoopback || host === undefined || LOOPBACK_HOST.test(host)) return null;
  const detail =
    'this listens on loopback and answers to localhost or a loopback address; OPERATIONS_HOST opens it to others';
  return { status: 421, detail };
}
