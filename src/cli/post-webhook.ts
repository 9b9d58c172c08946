import { isLoopbackUrl } from '../text/loopback.js';
import { CommandError, createUsageError } from './command-error.js';
import { EXIT } from './exit.js';
import { WEBHOOK_PATH } from '../webhook/visitor-pages.js';

const ANSWER_TIMEOUT_MS = 20_000;

/** Why a webhook could not be posted. */
export type PostFailure = 'no answer' | 'timed out';

/** Posts a webhook to this machine. Returns the HTTP status, or why there was none. */
export async function tryPostWebhook(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<number | PostFailure> {
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
      redirect: 'manual',
      signal,
    });
    await response.body?.cancel();
    return response.status;
  } catch (error) {
    return error instanceof Error && error.name === 'TimeoutError' ? 'timed out' : 'no answer';
  }
}

/** Posts a webhook to this machine and returns the HTTP status. Throws if there is no answer. */
export async function postWebhook(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): Promise<number> {
  const status = await tryPostWebhook(url, headers, body);
  if (typeof status === 'number') return status;
  throw new CommandError(
    EXIT.unreachable,
    status === 'timed out'
      ? `${url} did not answer within ${ANSWER_TIMEOUT_MS / 1000} s.`
      : `No receiver answers at ${url}.`,
    'Start "carbon-mirror up" or "receive", or set PORT or the URL to where it listens.',
  );
}

/**
 * Returns the URL unchanged if it points to this machine. Throws a usage error for any other URL. The error begins with `option`, the
 * option that has this URL.
 */
export function requireLoopbackUrl(option: string, url: string): string {
  if (isLoopbackUrl(url)) return url;
  throw createUsageError(
    `${option}: expected a URL of this machine, such as http://127.0.0.1:8080/webhooks, got "${url}".`,
    'Webhooks are posted to loopback only. For programs elsewhere, see "carbon-mirror subscriptions".',
  );
}

/** Returns the receiver's local webhook URL: `('0.0.0.0', 8080)` → `http://127.0.0.1:8080/webhooks`. */
export function formatReceiverUrl(host: string, port: number | string): string {
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${address.includes(':') ? `[${address}]` : address}:${port}${WEBHOOK_PATH}`;
}
