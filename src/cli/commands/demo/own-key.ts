import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import type { ControlClient } from '../../../sandbox/control/client.js';

/** A pair of keys as texts. */
export const PEM = {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
} as const;

/** One more key of an app at a sandbox, made once it is needed and known to this process alone: the app's own is the worker's. */
export function createOwnKey(control: ControlClient, appId: string): () => Promise<string> {
  let made: Promise<string> | null = null;

  async function make(): Promise<string> {
    const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', PEM);
    await control('POST', `/apps/${encodeURIComponent(appId)}/keys`, { publicKey });
    return privateKey;
  }

  return async () => {
    made ??= make();
    try {
      return await made;
    } catch (error) {
      made = null;
      throw error;
    }
  };
}
