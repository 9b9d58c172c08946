import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const DEADLINE_MS = 170_000;

/** A `carbon-mirror` process, as a Procfile starts it. */
export interface StartedProcess {
  readonly child: ChildProcess;
  /** Returns everything that the process has printed. */
  output(): string;
  /** Waits for a matching line of its log, and returns the parsed line. */
  waitForLine(matches: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  /** Returns everything that the process has printed to stderr. */
  stderr(): string;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
  /** Resolves once the process and all processes that it started have ended. */
  readonly outputClosed: Promise<unknown>;
}

export function startProcess(
  argv: readonly string[],
  env: Record<string, string>,
  cwd?: string,
): StartedProcess {
  const child = spawn(process.execPath, [MAIN, ...argv], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  let output = '';
  let stderrText = '';
  child.stdout.setEncoding('utf8').on('data', (printed: string) => {
    output += printed;
  });
  child.stderr.setEncoding('utf8').on('data', (printed: string) => {
    output += printed;
    stderrText += printed;
  });
  const closed = once(child, 'close');
  const ended = once(child, 'exit').then(
    ([code, signal]: (number | string | null)[]) => code ?? signal ?? 'unknown',
  );
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  return {
    child,
    output: () => output,
    stderr: () => stderrText,
    ended,
    outputClosed: closed,
    waitForLine: async fits => {
      const deadline = Date.now() + DEADLINE_MS;
      while (Date.now() < deadline) {
        const found = output
          .split('\n')
          .map(parseObject)
          .find(line => line !== null && fits(line));
        if (found) return found;
        await new Promise(resolve => setTimeout(resolve, 20));
      }
      throw new Error(`expected a line that did not come within ${DEADLINE_MS} ms; it printed:\n${output}`);
    },
  };
}

export interface FinishedProcess {
  readonly exitCode: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command in a process of its own until it ends. */
export async function runProcess(
  argv: readonly string[],
  env: Record<string, string>,
  cwd?: string,
  main: string = MAIN,
): Promise<FinishedProcess> {
  const child = spawn(process.execPath, [main, ...argv], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
  const closed = once(child, 'close');
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [code, signal]: (number | string | null)[] = await closed;
  return { exitCode: code ?? signal ?? 'unknown', stdout, stderr };
}

function parseObject(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

/** Ports below those that the system assigns. Each test process has a hundred of its own. */
const PORTS = { from: 10_000, each: 100, processes: 220 };
let ports = 0;

/** Finds a free port that no other test process will be given. */
export async function findFreePort(): Promise<number> {
  for (let tried = 0; tried < PORTS.each; tried++) {
    const port = PORTS.from + (process.pid % PORTS.processes) * PORTS.each + (ports++ % PORTS.each);
    if (await isPortFree(port)) return port;
  }
  throw new Error(`expected a free port among the ${PORTS.each} of this process, found none`);
}

async function isPortFree(port: number): Promise<boolean> {
  return await new Promise(resolve => {
    const server = createServer()
      .once('error', () => resolve(false))
      .listen(port, () => server.close(() => resolve(true)));
  });
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
