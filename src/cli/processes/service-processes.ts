import { CommandError } from '../exit.js';
import { type Io, printNotice } from '../io.js';
import { superviseChild } from './supervised-child.js';
import { waitForAbort } from './service.js';

export interface ServicePorts {
  /** The receiver's. */
  readonly port: number;
  /** The console's; null where it could not be started. */
  readonly consolePort: number | null;
}

/**
 * `receive`, `work` and `console` as processes of their own, the same code as the Procfile, so that a busy worker never
 * stalls the receiver. They write to our own output, and stop when we do, even when we are killed: their channel to us closes.
 * Nobody is to be sent to the receiver's port before `whenReady` is told it; it leaves off where they are stopped.
 */
export async function runServiceProcesses(
  io: Io,
  env: Io['env'],
  interrupted: AbortSignal,
  whenReady: (ready: ServicePorts, stopping: AbortSignal) => Promise<void>,
  /** Done before anything is received or read; the pages are there already. */
  first: (stopping: AbortSignal) => Promise<void> = async () => undefined,
): Promise<void> {
  const giveUp = new AbortController();
  const stopping = AbortSignal.any([interrupted, giveUp.signal]);
  const pages = superviseChild(io, 'console', env, stopping);
  /** Who only looks is not what the others wait for. */
  const looked = pages.ended.catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    printNotice(io, ...error.lines);
  });
  const both: Promise<void>[] = [];
  try {
    await first(stopping);
    const receive = superviseChild(io, 'receive', env, stopping);
    const work = superviseChild(io, 'work', env, stopping);
    both.push(receive.ended, work.ended);
    const introduce = async () => {
      const consolePort = Promise.race([pages.ready, looked.then(() => null)]);
      const [port, at] = await Promise.all([receive.ready, consolePort, work.ready]);
      if (port === null) throw new Error('the receiver did not tell its port');
      await whenReady({ port, consolePort: at }, stopping);
    };
    await Promise.race([introduce(), ...both]);
    await Promise.race([waitForAbort(interrupted), ...both]);
  } finally {
    giveUp.abort();
    await Promise.allSettled([...both, looked]);
  }
}
