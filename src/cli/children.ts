import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { childEnvironment } from '../config.js';
import { CommandFault, EXIT } from './exit.js';
import type { Io } from './io.js';
import { aborted } from './service.js';

const MAIN = fileURLToPath(new URL('../main.js', import.meta.url));
const ROLES = ['receive', 'work'] as const;
type Role = (typeof ROLES)[number];

/**
 * `receive` and `work` as processes of their own, the same code as the Procfile, so that a busy worker never stalls the
 * door. They write to our own output, and stop when we do, even when we are killed: their channel to us closes.
 */
export async function runChildren(
  env: Io['env'],
  interrupted: AbortSignal,
  whenReady: () => Promise<void>,
): Promise<void> {
  const children = ROLES.map(role => ({ role, process: start(role, env) }));
  const ended = Promise.race(children.map(child => endOf(child.role, child.process)));
  try {
    await Promise.race([
      Promise.all(children.map(child => once(child.process, 'message'))),
      ended,
      aborted(interrupted),
    ]);
    if (!interrupted.aborted) await Promise.race([whenReady(), ended, aborted(interrupted)]);
    await Promise.race([ended, aborted(interrupted)]);
  } finally {
    await Promise.all(children.map(child => stop(child.process)));
  }
}

/** In a group of its own: Ctrl-C reaches us alone, and we stop both in order. */
function start(role: Role, env: Io['env']): ChildProcess {
  return fork(MAIN, [role], { env: { ...childEnvironment(env, role) }, detached: true });
}

async function endOf(role: Role, child: ChildProcess): Promise<never> {
  const [code, signal]: (string | number | null)[] = await once(child, 'exit');
  const how = signal === null ? `with exit code ${String(code)}` : `by ${String(signal)}`;
  throw new CommandFault(
    code === EXIT.usage ? EXIT.usage : EXIT.unexpected,
    `"carbon-mirror ${role}" ended ${how}; the other process is stopped too.`,
    'Its last lines above say why.',
  );
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
