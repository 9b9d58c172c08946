import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort, runProcess } from '../support/processes.js';
import { type Tables, openTablesIn } from '../support/tables.js';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const DEADLINE_MS = 170_000;

/** `carbon-mirror up` running in a process and folder of its own. */
export interface StartedProgram {
  readonly folder: string;
  readonly receiverPort: number;
  /** Origin of its console. */
  readonly origin: string;
  readonly port: number;
  /** Creates a link that signs in one browser, once. */
  readonly createSignInLink: () => Promise<string>;
  readonly stop: () => Promise<void>;
}

export interface Demo extends StartedProgram {
  readonly tables: Tables;
}

/** Starts `carbon-mirror up` and waits until its output contains `ready`. */
export async function startUp(
  env: Readonly<Record<string, string>>,
  ready: string,
  upOptions: readonly string[] = [],
): Promise<StartedProgram> {
  const cwd = mkdtempSync(join(tmpdir(), 'carbon-mirror-seen-'));
  const [receiverPort, port] = [await findFreePort(), await findFreePort()];
  const settings = {
    PORT: String(receiverPort),
    CONSOLE_PORT: String(port),
    OPERATIONS_PORT: '0',
    ...env,
  };
  const child = spawn(process.execPath, [MAIN, 'up', ...upOptions], {
    env: settings,
    cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text));
  const stop = async (): Promise<void> => {
    const closed = once(child, 'close');
    child.kill('SIGTERM');
    await closed;
    rmSync(cwd, { recursive: true, force: true });
  };
  for (const deadline = Date.now() + DEADLINE_MS; !output.includes(ready); ) {
    if (Date.now() > deadline) {
      await stop();
      throw new Error(`"up" was not ready in time. Its output:\n${output}`);
    }
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  return {
    folder: cwd,
    receiverPort,
    origin: `http://127.0.0.1:${port}`,
    port,
    createSignInLink: async () => (await runProcess(['console', 'url'], settings, cwd)).stdout.trim(),
    stop,
  };
}

/** Starts the whole demo, like `npm start -- --demo`, and waits until everything is mirrored. */
export async function startDemo(): Promise<Demo> {
  const started = await startUp({ SANDBOX_PORT: String(await findFreePort()) }, 'Ready: ', ['--demo']);
  return { ...started, tables: openTablesIn(join(started.folder, 'data/demo')) };
}
