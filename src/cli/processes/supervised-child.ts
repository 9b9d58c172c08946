/**
 * Supervises one child process: starts a service command, restarts it with backoff whenever it ends, and stops it.
 *
 * A restarted child listens on the port that it had first, so that its address stays valid. A child that fails before
 * it was ever ready, or whose settings are wrong, is not restarted: the next attempt would fail in the same way.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createChildEnvironment } from '../../app/config/read-settings.js';
import { PACKAGE_FOLDER } from '../../package.js';
import { EXIT } from '../exit.js';
import { CommandError } from '../command-error.js';
import { NEXT_PORT_VARIABLE } from './service.js';
import { type Io, printNotice } from '../io.js';
import { getValueAtPath } from '../value-at-path.js';

/** The file that runs the program. */
export const MAIN_FILE = fileURLToPath(new URL('dist/main.js', PACKAGE_FOLDER));
const MIN_RESTART_DELAY_MS = 1000;
const MAX_RESTART_DELAY_MS = 60_000;
/** After a child has run this long, the backoff starts again from the shortest delay. */
const STABLE_RUN_MS = 60_000;

/** A service command that runs as a child process. */
export type ServiceRole = 'receive' | 'work' | 'console' | 'api';

/** The console does not print its address, because the parent process does. */
const ARGUMENTS: Readonly<Record<ServiceRole, readonly string[]>> = {
  receive: ['receive'],
  work: ['work'],
  console: ['console', '--no-address'],
  api: ['api'],
};
/** The setting that names the port of each service. */
const PORT_SETTINGS = { receive: 'PORT', work: 'PORT', console: 'CONSOLE_PORT', api: 'API_PORT' } as const;

export interface SupervisedChild {
  /** Resolves when the child is ready for the first time, with the port it listens on, if any. */
  readonly ready: Promise<number | null>;
  /** Resolves when the child was stopped. Rejects when it ended and a restart would not help. */
  readonly ended: Promise<void>;
}

/** How a child process ended. */
interface ChildExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/** Runs a service as a child process and restarts it whenever it ends. */
export function superviseChild(
  io: Io,
  role: ServiceRole,
  env: Io['env'],
  stopping: AbortSignal,
): SupervisedChild {
  const portSetting = PORT_SETTINGS[role];
  const isPortSetByUser = env[portSetting] === io.env[portSetting];
  /** On the first start, a port that the user did not set may be replaced by the next free one. */
  let childEnv: Io['env'] = isPortSetByUser ? env : { ...env, [NEXT_PORT_VARIABLE]: portSetting };
  let wasReady = false;
  let resolveReady: (port: number | null) => void = () => undefined;
  const ready = new Promise<number | null>(resolve => {
    resolveReady = resolve;
  });

  /** Records that the child process is ready, and its port. A restarted child uses the same port again. */
  function recordReady(message: unknown): void {
    const reportedPort = getValueAtPath(message, 'port');
    const port = typeof reportedPort === 'number' ? reportedPort : null;
    if (port !== null) childEnv = { ...env, [portSetting]: String(port) };
    wasReady = true;
    resolveReady(port);
  }

  /** Runs the child process until `stopping` is aborted. Restarts it after a growing delay whenever it ends. */
  async function runUntilStopped(): Promise<void> {
    for (let failures = 0; !stopping.aborted; failures += 1) {
      const startedAt = io.now();
      const exit = await runChildOnce(role, childEnv, stopping, recordReady);
      if (stopping.aborted) return;
      // A child that was never ready or reports a usage error would fail again.
      if (!wasReady || exit.code === EXIT.usage) throw createExitError(role, exit);
      if (io.now() - startedAt > STABLE_RUN_MS) failures = 0;
      const delayMs = Math.min(MIN_RESTART_DELAY_MS * 2 ** failures, MAX_RESTART_DELAY_MS);
      printNotice(
        io,
        `"carbon-mirror ${role}" ended ${describeExit(exit)}. Restarting it in ${delayMs / 1000} s.`,
      );
      await sleep(delayMs, undefined, { signal: stopping }).catch(() => undefined);
    }
  }

  return { ready, ended: runUntilStopped() };
}

/** Starts a child process, waits for its end and returns the exit code and signal. `onReady` receives its first message. */
async function runChildOnce(
  role: ServiceRole,
  env: Io['env'],
  stopping: AbortSignal,
  onReady: (message: unknown) => void,
): Promise<ChildExit> {
  const child: ChildProcess = fork(MAIN_FILE, [...ARGUMENTS[role]], {
    env: { ...createChildEnvironment(env, role) },
    /** A process group of its own: Ctrl-C reaches only the parent, which stops all children in order. */
    detached: true,
  });
  const stopChild = () => void child.kill('SIGTERM');
  stopping.addEventListener('abort', stopChild, { once: true });
  child.once('message', onReady);
  const [code, signal] = await once(child, 'exit');
  stopping.removeEventListener('abort', stopChild);
  return { code, signal };
}

/** Creates the error for a child process that ended and is not restarted. */
function createExitError(role: ServiceRole, exit: ChildExit): CommandError {
  const exitCode = exit.code === EXIT.usage ? EXIT.usage : EXIT.unexpected;
  const consequence =
    role === 'console' || role === 'api'
      ? 'The other processes keep running.'
      : 'The other processes are stopped too.';
  return new CommandError(
    exitCode,
    `"carbon-mirror ${role}" ended ${describeExit(exit)}. ${consequence}`,
    'Its last lines above say why.',
  );
}

/** Returns a text such as `with exit code 1` or `by SIGKILL`. */
function describeExit({ code, signal }: ChildExit): string {
  return signal === null ? `with exit code ${String(code)}` : `by ${signal}`;
}
