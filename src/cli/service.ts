import type { Running } from '../app/running.js';
import type { Io } from './io.js';

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

export async function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>(resolve => {
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
