// Starts `carbon-mirror receive`, or a stand-in for it, as a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @import { ChildProcess } from 'node:child_process' */
/**
 * @typedef {{
 *   readonly appId: string,
 *   readonly secret: string,
 *   readonly mutant?: string,
 *   readonly environment?: Readonly<Record<string, string>>,
 * }} ReceiverOptions
 */

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const BROKEN = fileURLToPath(new URL('receiver-process.js', import.meta.url));

/**
 * Starts a receiver process. Its log goes to a file, because reading it would slow the load client.
 * @param {string} folder
 * @param {ReceiverOptions} options
 */
export async function startReceiver(folder, { appId, secret, mutant = '', environment = {} }) {
  const logFile = join(folder, 'receive.log');
  const log = openSync(logFile, 'w');
  const child = spawn(process.execPath, mutant === '' ? [PROGRAM, 'receive'] : [BROKEN], {
    stdio: ['ignore', log, 'inherit'],
    env: {
      ...process.env,
      DATA_DIR: folder,
      PORT: '0',
      OPERATIONS_PORT: '0',
      REGISTRY_APP_ID: appId,
      WEBHOOK_SECRETS: secret,
      MUTANT: mutant,
      ...environment,
    },
  });
  closeSync(log);
  const exited = once(child, 'exit');
  return { child, exited, port: await findPort(child, logFile) };
}

/**
 * @param {ChildProcess} child
 * @param {string} logFile
 */
async function findPort(child, logFile) {
  while (child.exitCode === null) {
    const port = Number(/"port":(\d+)/.exec(readFileSync(logFile, 'utf8'))?.[1] ?? 0);
    if (port > 0) return port;
    await new Promise(resolve => setTimeout(resolve, 5));
  }
  throw new Error(`the receiver ended with ${child.exitCode}`);
}
