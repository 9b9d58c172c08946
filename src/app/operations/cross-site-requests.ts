import type { IncomingHttpHeaders } from 'node:http';
import { isLoopbackHostHeader } from '../../text/loopback.js';

/** Why a request is refused, with the HTTP status of the answer. */
export interface RequestRefusal {
  readonly status: 403 | 421;
  readonly detail: string;
}

/** Returns a refusal for a request that another website may have caused, or null to accept the request. */
export function findCrossSiteRefusal(
  headers: IncomingHttpHeaders,
  isOnLoopback: boolean,
): RequestRefusal | null {
  if (headers['sec-fetch-site'] === 'cross-site') {
    return { status: 403, detail: 'requests from pages of another site are refused' };
  }
  const { host } = headers;
  // DNS rebinding can point a foreign name at this machine. Elsewhere, probes and scrapers may use any name. A request
  // without a Host header comes from no browser.
  if (!isOnLoopback || host === undefined || isLoopbackHostHeader(host)) return null;
  const detail =
    'this port accepts only localhost or a loopback address as host; set OPERATIONS_HOST to open it to other machines';
  return { status: 421, detail };
}
