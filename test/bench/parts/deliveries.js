// Starts a receiver, posts webhooks to it, and waits for what follows.
import { createHmac } from 'node:crypto';
import { MAIN, start } from './children.js';

/** @import { Installed } from './registry.js' */

/** The timeout of every step. It is generous, because a busy machine must not fail the benchmark. */
const HANGS_AFTER_MS = 600_000;

/**
 * @param {{ appId: string }} app
 * @param {string} dataDir
 * @param {string} secret
 */
export async function startReceiver({ appId }, dataDir, secret) {
  const env = {
    ...process.env,
    DATA_DIR: dataDir,
    PORT: '0',
    OPERATIONS_PORT: '0',
    REGISTRY_APP_ID: appId,
    WEBHOOK_SECRETS: secret,
    REGISTRY_BASE_URL: 'http://127.0.0.1:1',
  };
  const child = start([MAIN, 'receive'], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const port = await new Promise((resolve, reject) => {
    /** @param {Buffer} chunk */
    const read = chunk => {
      const found = /"port":(\d+)/.exec(String(chunk));
      if (found) resolve(Number(found[1]));
    };
    child.stdout?.on('data', read);
    child.stderr?.on('data', read);
    child.once('exit', code => reject(new Error(`receive ended with ${code}`)));
  });
  return { child, url: `http://127.0.0.1:${port}/webhooks` };
}

/**
 * @param {string} url
 * @param {string} secret
 * @param {{ appId: string }} app
 * @param {Installed} installed
 */
export async function post(url, secret, { appId }, { installationId, organizationId }) {
  const payload = {
    event: 'warehouseTransaction',
    installation: { id: installationId, appId, organization: { id: organizationId } },
  };
  const signedData = Buffer.from(JSON.stringify({ ...payload, nonce: Math.random() })).toString('base64');
  const signature = `sha256=${createHmac('sha256', secret).update(signedData).digest('hex')}`;
  const headers = { 'content-type': 'application/json', 'x-registry-signature-256': signature };
  const response = await fetch(url, {
    method: 'POST',
    headers,
    body: JSON.stringify({ ...payload, signedData }),
  });
  await response.arrayBuffer();
  if (response.status !== 202) throw new Error(`the receiver answered ${response.status}`);
}

/** @param {() => boolean} holds */
export async function until(holds) {
  const deadline = performance.now() + HANGS_AFTER_MS;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error('waited in vain');
    await new Promise(resolve => setTimeout(resolve, 1));
  }
}
