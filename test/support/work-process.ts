import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import type { TestApp } from './sandbox.js';

export interface WorkProcess {
  readonly child: ChildProcess;
  /** Sends SIGTERM, and returns the exit code. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

export interface WorkSettings {
  readonly url: string;
  readonly app: TestApp;
  readonly dataDir: string;
  readonly env?: Readonly<Record<string, string>>;
}

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

/** Starts `carbon-mirror work` in a process of its own, as in production. */
export function startWorkProcess({ url, app, dataDir, env = {} }: WorkSettings): WorkProcess {
  const child = spawn(process.execPath, [MAIN, 'work'], {
    env: {
      PATH: process.env['PATH'],
      REGISTRY_BASE_URL: url,
      REGISTRY_APP_ID: app.id,
      REGISTRY_PRIVATE_KEY: app.privateKey,
      REGISTRY_REQUESTS_PER_SECOND: '1000',
      REGISTRY_BURST: '1000',
      DATA_DIR: dataDir,
      OPERATIONS_PORT: '0',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const exited = once(child, 'exit');
  child.stdout.resume();
  child.stderr.resume();
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  return {
    child,
    async stop() {
      child.kill('SIGTERM');
      const [code] = await exited;
      return code;
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
