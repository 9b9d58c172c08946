import type { Running } from '../../app/running.js';
import { volumeAdvice } from '../../config/platform.js';
import type { Log } from '../../log/log.js';
import { findExposures } from '../faults/exposures.js';
import { type Io, say } from '../io.js';

/** Run until the first signal, or until the program fails by itself; then stop it in order. */
export async function runService(io: Io, role: string, start: () => Promise<Running>): Promise<void> {
  const interrupted = io.interruption();
  const running = await start();
  io.tellParent({ ready: role, port: running.port, operations: running.operationsPort });
  try {
    await Promise.race([aborted(interrupted), running.failed]);
  } finally {
    await running.stop();
  }
}

/** What a child is told of a port that was kept for it and that nobody has named. */
export const OR_NEXT_PORT = 'OR_NEXT_PORT';

export function takesNextPort({ env }: Io, setting: 'PORT' | 'CONSOLE_PORT'): boolean {
  return !env[setting] || env[OR_NEXT_PORT] === setting;
}

export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>(resolve => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

/** One line for each thing that others could read, write or ask. */
export function warnOfExposures(io: Io, log: Pick<Log, 'warn'>): void {
  for (const { found, todo } of findExposures(io)) log.warn({ todo }, found);
}

/** On a platform whose disks do not stay by themselves. */
export function adviseVolume(io: Io): void {
  const advice = volumeAdvice(io.env);
  if (advice !== null) say(io, advice);
}
