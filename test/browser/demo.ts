import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freePort, runProcess } from '../support/processes.js';
import { type Tables, tablesIn } from '../support/tables.js';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const DEADLINE_MS = 60_000;

export interface Demo {
  /** Of its console. */
  readonly origin: string;
  readonly port: number;
  readonly tables: Tables;
  /** An address that lets a browser in, once. */
  readonly address: () => Promise<string>;
  readonly stop: () => Promise<void>;
}

/** The whole demo, as `npm start` has it, once all is mirrored. */
export async function startDemo(env: Readonly<Record<string, string>> = {}): Promise<Demo> {
  const cwd = mkdtempSync(join(tmpdir(), 'carbon-mirror-seen-'));
  const port = await freePort();
  const settings = {
    PORT: String(await freePort()),
    SANDBOX_PORT: String(await freePort()),
    CONSOLE_PORT: String(port),
    OPERATIONS_PORT: '0',
    ...env,
  };
  const child = spawn(process.execPath, [MAIN, 'up'], {
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
  for (const deadline = Date.now() + DEADLINE_MS; !said.includes('Ready: '); ) {
    if (Date.now() > deadline) throw new Error(`the demo was not ready in time; it said:\n${said}`);
    await new Promise(resolve => setTimeout(resolve, 100));
  }
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    tables: tablesIn(join(cwd, 'data/demo')),
    address: async () => (await runProcess(['console', 'url'], settings, cwd)).stdout.trim(),
    stop,
  };
}
