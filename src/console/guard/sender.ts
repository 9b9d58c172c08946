import type { IncomingHttpHeaders } from 'node:http';

const SAFE = ['GET', 'HEAD'];

/** Whether what changes something was sent by a page of ours. Only over https or on loopback does a browser say so itself. */
export function isOwnPage(method: string | undefined, headers: IncomingHttpHeaders): boolean {
  if (SAFE.includes(method ?? '')) return true;
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin';
  return originHost(headers.origin) === headers.host;
}

function originHost(origin: string | undefined): string | null {
  return /^https?:\/\/([^/]+)$/.exec(origin ?? '')?.[1] ?? null;
}
