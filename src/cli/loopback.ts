import { WEBHOOK_PATH } from '../webhook/pages.js';

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i;

/** Whether a host name or address is only reachable from this machine. */
export function isLoopbackHost(host: string): boolean {
  return LOOPBACK.test(host);
}

/** Whether a URL is only reachable from this machine. */
export function isLoopbackUrl(url: string): boolean {
  return /^https?:\/\//.test(url) && URL.canParse(url) && isLoopbackHost(new URL(url).hostname);
}

/** Formats the webhook URL at which this machine reaches a receiver, also if it listens on all addresses. */
export function formatReceiverUrl(host: string, port: number | string): string {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}${WEBHOOK_PATH}`;
}
