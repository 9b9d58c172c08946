/**
 * Signatures and secrets of events, as https://www.standardwebhooks.com describes them. The secret of a subscription is derived
 * from the events key, so it is stored nowhere and cannot leave in a backup or a query.
 */
import { createHmac, hkdfSync } from 'node:crypto';

const SECRET_BYTES = 32;
const CHECK_BYTES = 8;
const NO_SALT = Buffer.alloc(0);

/**
 * Derives the signing secret of a subscription from the events key. A rotation raises `generation` and so changes the secret.
 */
export function deriveSecret(key: Uint8Array, subscriptionId: string, generation: number): string {
  const bytes = derive(key, `subscription ${subscriptionId} ${generation}`, SECRET_BYTES);
  return `whsec_${bytes.toString('base64')}`;
}

/** Derives a value that shows whether a subscription was created with this key. */
export function deriveKeyCheck(key: Uint8Array, subscriptionId: string): string {
  return derive(key, `check ${subscriptionId}`, CHECK_BYTES).toString('hex');
}

/** Derives bytes from the events key for one purpose. */
function derive(key: Uint8Array, purpose: string, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', key, NO_SALT, `carbon-mirror events: ${purpose}`, length));
}

interface SignedMessage {
  readonly id: string;
  /** The time of the attempt in epoch milliseconds. */
  readonly at: number;
  readonly body: string;
}

/** Creates the headers of an event, with one signature for each secret. A receiver needs only one of the secrets. */
export function createEventHeaders(
  { id, at, body }: SignedMessage,
  secrets: readonly string[],
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(at / 1_000));
  const signatures = secrets.map(secret => {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
    return `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64')}`;
  });
  return {
    'content-type': 'application/json',
    'user-agent': 'carbon-mirror',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatures.join(' '),
  };
}
