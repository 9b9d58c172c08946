import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createChildEnvironment } from '../../app/config/config.js';
import { PACKAGE_FOLDER } from '../../package.js';
import { CommandError, EXIT } from '../exit.js';
import { NEXT_PORT_VARIABLE } from './service.js';
import { type Io, printNotice } from '../io.js';
import { getValueAtPath } from '../value-at-path.js';

export const MAIN_FILE = fileURLToPath(new URL('dist/main.js', PACKAGE_FOLDER));
const MIN_RESTART_DELAY_MS = 1000;
const MAX_RESTART_DELAY_MS = 60_000;
/** Who falls after a longer life is started again after the first pause. */
const STEADY_MS = 60_000;

export type ServiceRole = 'receive' | 'work' | 'console';

/** Whoever starts it tells the address of the console. */
const ARGUMENTS: Readonly<Record<ServiceRole, readonly string[]>> = {
  receive: ['receive'],
  work: ['work'],
  console: ['console', '--no-address'],
};
const PORT_SETTINGS = { receive: 'PORT', work: 'PORT', console: 'CONSOLE_PORT' } as const;

export interface SupervisedChild {
  /** The port at which it takes requests, once it is ready for the first time. */
  readonly ready: Promise<number | null>;
  /** Rejects where it fell and starting it again would not help. */
  readonly ended: Promise<void>;
}

interface ChildExit {
  readonly code: number | null;
  readonly signal: string | null;
}

/**
 * A process that is started again whenever it falls, at the same port, until `stopping`. A port that `env` has and that
 * nobody has named may be another one at first.
 */
export function superviseChild(
  io: Io,
  role: ServiceRole,
  env: Io['env'],
  stopping: AbortSignal,
): SupervisedChild {
  const isNamed = env[PORT_SETTINGS[role]] === io.env[PORT_SETTINGS[role]];
  let given: Io['env'] = isNamed ? env : { ...env, [NEXT_PORT_VARIABLE]: PORT_SETTINGS[role] };
  let isReady = false;
  let tellReady: (port: number | null) => void = () => undefined;
  const ready = new Promise<number | null>(resolve => {
    tellReady = resolve;
  });

  function hear(message: unknown): void {
    const told = getValueAtPath(message, 'port');
    const port = typeof told === 'number' ? told : null;
    if (port !== null) given = { ...env, [PORT_SETTINGS[role]]: String(port) };
    isReady = true;
    tellReady(port);
  }

  async function run(): Promise<void> {
    for (let falls = 0; !stopping.aborted; falls += 1) {
      const startedAt = io.now();
      const end = await runOnce(role, given, stopping, hear);
      if (stopping.aborted) return;
      if (!isReady || end.code === EXIT.usage) throw createExitError(role, end);
      if (io.now() - startedAt > STEADY_MS) falls = 0;
      const pauseMs = Math.min(MIN_RESTART_DELAY_MS * 2 ** falls, MAX_RESTART_DELAY_MS);
      printNotice(
        io,
        `"carbon-mirror ${role}" ended ${describeExit(end)}. Restarting it in ${pauseMs / 1000} s.`,
      );
      await pause(pauseMs, undefined, { signal: stopping }).catch(() => undefined);
    }
  }

  return { ready, ended: run() };
}

/** In a group of its own: Ctrl-C reaches us alone, and we stop all of them in order. */
async function runOnce(
  role: ServiceRole,
  env: Io['env'],
  stopping: AbortSignal,
  hear: (message: unknown) => void,
): Promise<ChildExit> {
  const child: ChildProcess = fork(MAIN_FILE, [...ARGUMENTS[role]], {
    env: { ...createChildEnvironment(env, role) },
    detached: true,
  });
  const stop = () => void child.kill('SIGTERM');
  stopping.addEventListener('abort', stop, { once: true });
  child.once('message', hear);
  const [code, signal] = await once(child, 'exit');
  stopping.removeEventListener('abort', stop);
  return { code, signal };
}

function createExitError(role: ServiceRole, end: ChildExit): CommandError {
  const exitCode = end.code === EXIT.usage ? EXIT.usage : EXIT.unexpected;
  const others =
    role === 'console' ? 'The other processes keep running.' : 'The other processes are stopped too.';
  const found = `"carbon-mirror ${role}" ended ${describeExit(end)}. ${others}`;
  return new CommandError(exitCode, found, 'Its last lines above say why.');
}

function describeExit({ code, signal }: ChildExit): string {
  return signal === null ? `with exit code ${String(code)}` : `by ${signal}`;
}
