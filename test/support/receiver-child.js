// Starts `carbon-mirror receive`, or a deliberately broken receiver, as a child process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const BROKEN_RECEIVER = fileURLToPath(new URL('receiver-process.js', import.meta.url));

/** Starts a receiver and returns { child, exited, port }. It logs to a file, because reading a pipe would slow the load client down. */
export async function startReceiver(folder, { appId, secret, mutant = '', environment = {} }) {
  const logFile = join(folder, 'receive.log');
  const log = openSync(logFile, 'w');
  const child = spawn(process.execPath, mutant === '' ? [PROGRAM, 'receive'] : [BROKEN_RECEIVER], {
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

async function findPort(child, logFile) {
  while (child.exitCode === null) {
    const port = Number(/"port":(\d+)/.exec(readFileSync(logFile, 'utf8'))?.[1] ?? 0);
    if (port > 0) return port;
    await new Promise(resolve => setTimeout(resolve, 5));
  }
  throw new Error(`the receiver ended with ${child.exitCode}`);
}
