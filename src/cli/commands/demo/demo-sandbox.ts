import {
  type ControlClient,
  ControlError,
  createControlClient,
} from '../../../sandbox/control/control-client.js';
import type { MirrorContext } from '../../context.js';
import { isLoopbackUrl } from '../../../text/loopback.js';
import { getValueAtPath } from '../../value-at-path.js';
import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { readDemoSettings } from './demo-settings.js';

const ANSWER_TIMEOUT_MS = 2_000;

/** Returns the control API of the local sandbox at a URL, or null if none runs there. */
export async function findSandbox(url: string | undefined): Promise<ControlClient | null> {
  if (url === undefined || !isLoopbackUrl(url)) return null;
  const isRunning = await isSandbox(createControlClient(url, AbortSignal.timeout(ANSWER_TIMEOUT_MS)));
  return isRunning ? createControlClient(url) : null;
}

/** Returns whether the demo in this folder is still simulating its history. */
export async function isDemoBeingCreated({ isDemo, folder }: MirrorContext): Promise<boolean> {
  /** Until the history is complete, the registry runs but no receiver has a port. */
  const settings = isDemo ? readDemoSettings(folder) : null;
  if (settings === null || settings['PORT']) return false;
  return (await findSandbox(settings['REGISTRY_BASE_URL'])) !== null;
}

/** Returns the message that `status` and `doctor` print while the demo is being created. */
export function describeDemoCreation({ engine }: MirrorContext): string {
  return `The demo in ${engine.location} is being created: it plays its simulated history, then starts the receiver and the worker.`;
}

/** Returns whether a sandbox responds. Returns false for any other server, such as a real registry. */
async function isSandbox(control: ControlClient): Promise<boolean> {
  try {
    return typeof getValueAtPath(await control('GET', '/status'), 'callsWithoutVersion') === 'number';
  } catch (error) {
    const isOtherProgram = [ControlError, SyntaxError, TypeError, DOMException].some(
      errorClass => error instanceof errorClass,
    );
    if (isOtherProgram) return false;
    throw error;
  }
}

/** Options of Node for an RSA key pair in PEM. */
export const PEM_KEY_PAIR = {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
} as const;

/**
 * Creates a function that returns a private key for the app. Its first call generates a key pair and registers the public key at the
 * sandbox, next to the public key of the worker. Later calls return the same private key.
 */
export function createKeyProvider(control: ControlClient, appId: string): () => Promise<string> {
  /** The app's first key belongs to the worker, so other processes need keys of their own. */
  let privateKeyPromise: Promise<string> | null = null;

  /** Generates a key pair, registers the public key at the sandbox and returns the private key. */
  async function registerKey(): Promise<string> {
    const { publicKey, privateKey } = await promisify(generateKeyPair)('rsa', PEM_KEY_PAIR);
    await control('POST', `/apps/${encodeURIComponent(appId)}/keys`, { publicKey });
    return privateKey;
  }

  return async () => {
    privateKeyPromise ??= registerKey();
    return await privateKeyPromise.catch((error: unknown) => {
      privateKeyPromise = null;
      throw error;
    });
  };
}
