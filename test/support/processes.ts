import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const DEADLINE_MS = 30_000;

/** `carbon-mirror` as a process of its own, as a Procfile starts it. */
export interface StartedProcess {
  readonly child: ChildProcess;
  /** All it has printed so far. */
  output(): string;
  /** Waits until a line of its log fits, and answers it as JSON. */
  line(fits: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>;
  /** Exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
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
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }
  const ended = once(child, 'exit').then(
    ([code, signal]: (number | string | null)[]) => code ?? signal ?? 'unknown',
  );
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  return {
    child,
    output: () => output,
    ended,
    line: async fits => {
      const deadline = Date.now() + DEADLINE_MS;
      while (Date.now() < deadline) {
        const found = output
          .split('\n')
          .map(parse)
          .find(line => line !== null && fits(line));
        if (found) return found;
        await new Promise(resolve => setTimeout(resolve, 20));
      }
      throw new Error(`expected a line that did not come within ${DEADLINE_MS} ms; it printed:\n${output}`);
    },
  };
}

function parse(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}

/** A port that nobody has at this moment. */
export async function freePort(): Promise<number> {
  return await new Promise(resolve => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
