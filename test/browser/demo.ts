import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, runProcess } from '../support/processes.js';
import { type Tables, tablesIn } from '../support/tables.js';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const DEADLINE_MS = 170_000;

/** `up` as a process of its own, with a folder of its own. */
export interface Started {
  readonly folder: string;
  readonly receiverPort: number;
  /** Of its console. */
  readonly origin: string;
  readonly port: number;
  /** An address that lets a browser in, once. */
  readonly address: () => Promise<string>;
  readonly stop: () => Promise<void>;
}

export interface Demo extends Started {
  readonly tables: Tables;
}

/** Once it has said so. */
export async function startUp(
  env: Readonly<Record<string, string>>,
  ready: string,
  words: readonly string[] = [],
): Promise<Started> {
  const cwd = mkdtempSync(join(tmpdir(), 'carbon-mirror-seen-'));
  const [receiverPort, port] = [await freePort(), await freePort()];
  const settings = {
    PORT: String(receiverPort),
    CONSOLE_PORT: String(port),
    OPERATIONS_PORT: '0',
    ...env,
  };
  const child = spawn(process.execPath, [MAIN, 'up', ...words], {
    env: settings,
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
  const stop = async (): Promise<void> => {
    const gone = once(child, 'close');
    child.kill('SIGTERM');
    await gone;
    rmSync(cwd, { recursive: true, force: true });
  };
  for (const deadline = Date.now() + DEADLINE_MS; !said.includes(ready); ) {
    if (Date.now() > deadline) {
      await stop();
      throw new Error(`it was not ready in time; it said:\n${said}`);
    }
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  return {
    folder: cwd,
    receiverPort,
    origin: `http://127.0.0.1:${port}`,
    port,
    address: async () => (await runProcess(['console', 'url'], settings, cwd)).stdout.trim(),
    stop,
  };
}

/** The whole demo, as `npm start -- --demo` has it, once all is mirrored. */
export async function startDemo(): Promise<Demo> {
  const started = await startUp({ SANDBOX_PORT: String(await freePort()) }, 'Ready: ', ['--demo']);
  return { ...started, tables: tablesIn(join(started.folder, 'data/demo')) };
}
