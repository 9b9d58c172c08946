import { WEBHOOK_PATH } from '../webhook/visitor-pages.js';

/** Returns the receiver's local webhook URL: `('0.0.0.0', 8080)` → `http://127.0.0.1:8080/webhooks`. */
export function formatReceiverUrl(host: string, port: number | string): string {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}${WEBHOOK_PATH}`;
}
