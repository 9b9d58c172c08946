import { WEBHOOK_PATH } from '../webhook/pages.js';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i;

/** Returns whether a host is this machine, such as `localhost` or `127.0.0.1`. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host);
}

/** Returns whether a URL points to this machine. */
export function isLoopbackUrl(url: string): boolean {
  return /^https?:\/\//.test(url) && URL.canParse(url) && isLoopbackHost(new URL(url).hostname);
}

/** Returns the receiver's local webhook URL: `('0.0.0.0', 8080)` → `http://127.0.0.1:8080/webhooks`. */
export function formatReceiverUrl(host: string, port: number | string): string {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}${WEBHOOK_PATH}`;
}
