import { type ControlClient, ControlError, createControlClient } from '../../../sandbox/control/client.js';
import type { MirrorLocation } from '../../context.js';
import { isLoopbackUrl } from '../../loopback.js';
import { getValueAtPath } from '../../value-at-path.js';
import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';
import { readDemoSettings } from './settings.js';

const PATIENCE_MS = 2_000;

/** The control API of the registry that settings name, where that is a sandbox of this machine which runs now; else null. */
export async function findSandbox(url: string | undefined): Promise<ControlClient | null> {
  if (url === undefined || !isLoopbackUrl(url)) return null;
  const isOne = await answersAsOne(createControlClient(url, AbortSignal.timeout(PATIENCE_MS)));
  return isOne ? createControlClient(url) : null;
}

/** Whether a demo plays its past: its registry runs, and no receiver has taken a port yet. */
export async function isBeingCreated({ isDemo, folder }: MirrorLocation): Promise<boolean> {
  const settings = isDemo ? readDemoSettings(folder) : null;
  if (settings === null || settings['PORT']) return false;
  return (await findSandbox(settings['REGISTRY_BASE_URL'])) !== null;
}

/** Text for `status` and `doctor` while the demo is created, when all dates in the mirror are months old. */
export function describeCreation({ engine }: MirrorLocation): string {
  return `The demo in ${engine.location} is being created: it plays six months of history, then starts the receiver and the worker.`;
}

/** Whether a sandbox answers. A real registry has no control API, and another program on this port may not answer at all. */
async function answersAsOne(control: ControlClient): Promise<boolean> {
  try {
    return typeof getValueAtPath(await control('GET', '/status'), 'callsWithoutVersion') === 'number';
  } catch (error) {
    const isNone = [ControlError, SyntaxError, TypeError, DOMException].some(kind => error instanceof kind);
    if (isNone) return false;
    throw error;
  }
}

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
    return await made.catch((error: unknown) => {
      made = null;
      throw error;
    });
  };
}
