import { CommandFault } from '../exit.js';
import { type Io, say } from '../io.js';
import { keepChild, type KeptChild } from './kept-child.js';
import { aborted } from './service.js';

interface Ready {
  /** The receiver's. */
  readonly port: number;
  /** The console's; null where it could not be started. */
  readonly consolePort: number | null;
}

/** What is done once all are ready; it leaves off where they are stopped. */
export type WhenReady = (ready: Ready, stopping: AbortSignal) => Promise<void>;

/**
 * `receive`, `work` and `console` as processes of their own, the same code as the Procfile, so that a busy worker never
 * stalls the receiver. They write to our own output, and stop when we do, even when we are killed: their channel to us closes.
 * Nobody is to be sent to the receiver's port before `whenReady` is told it.
 */
export async function runChildren(
  io: Io,
  env: Io['env'],
  interrupted: AbortSignal,
  whenReady: WhenReady,
  /** Done before anything is received or read; the pages are there already. */
  first: (stopping: AbortSignal) => Promise<void> = async () => undefined,
): Promise<void> {
  const giveUp = new AbortController();
  const stopping = AbortSignal.any([interrupted, giveUp.signal]);
  const pages = keepChild(io, 'console', env, stopping);
  const dispensable = pages.ended.catch((error: unknown) => tell(io, error));
  const both: Promise<void>[] = [];
  try {
    await first(stopping);
    const receive = keepChild(io, 'receive', env, stopping);
    const work = keepChild(io, 'work', env, stopping);
    both.push(receive.ended, work.ended);
    const looked = Promise.race([pages.ready, dispensable.then(() => null)]);
    const ready = introduce(receive, work, looked, there => whenReady(there, stopping));
    await Promise.race([ready, ...both]);
    await Promise.race([aborted(interrupted), ...both]);
  } finally {
    giveUp.abort();
    await Promise.allSettled([...both, dispensable]);
  }
}

async function introduce(
  receive: KeptChild,
  work: KeptChild,
  looked: Promise<number | null>,
  whenReady: (ready: Ready) => Promise<void>,
): Promise<void> {
  const [port, , consolePort] = await Promise.all([receive.ready, work.ready, looked]);
  if (port === null) throw new Error('the receiver did not tell its port');
  await whenReady({ port, consolePort });
}

/** Who only looks is not what the others wait for. */
function tell(io: Io, error: unknown): void {
  if (!(error instanceof CommandFault)) throw error;
  say(io, ...error.lines);
}
