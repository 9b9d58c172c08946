import { WEBHOOK_PATH } from '../webhook/pages.js';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i;

/** A host that no other machine reaches. */
export function isLoopback(host: string): boolean {
  return LOOPBACK.test(host);
}

/** A URL that leads to no other machine. */
export function isOnThisMachine(url: string): boolean {
  return /^https?:\/\//.test(url) && URL.canParse(url) && isLoopback(new URL(url).hostname);
}

/** Where this machine reaches a receiver, also one that listens everywhere. */
export function receiverUrl(host: string, port: number | string): string {
  const here = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${here.includes(':') ? `[${here}]` : here}:${port}${WEBHOOK_PATH}`;
}
