import type { Io } from './io.js';
import { keepChild, type KeptChild } from './kept-child.js';
import { aborted } from './service.js';

/**
 * `receive` and `work` as processes of their own, the same code as the Procfile, so that a busy worker never stalls the
 * door. They write to our own output, and stop when we do, even when we are killed: their channel to us closes.
 * `whenReady` is told the port that the receiver has: nobody is to be sent to it before.
 */
export async function runChildren(
  io: Io,
  env: Io['env'],
  interrupted: AbortSignal,
  whenReady: (port: number) => Promise<void>,
): Promise<void> {
  const giveUp = new AbortController();
  const stopping = AbortSignal.any([interrupted, giveUp.signal]);
  const receive = keepChild(io, 'receive', env, stopping);
  const work = keepChild(io, 'work', env, stopping);
  const both = [receive, work].map(({ ended }) => ended);
  try {
    await Promise.race([introduce(receive, work, whenReady), ...both]);
    await Promise.race([aborted(interrupted), ...both]);
  } finally {
    giveUp.abort();
    await Promise.allSettled(both);
  }
}

async function introduce(
  receive: KeptChild,
  work: KeptChild,
  whenReady: (port: number) => Promise<void>,
): Promise<void> {
  const [port] = await Promise.all([receive.ready, work.ready]);
  if (port === null) throw new Error('the receiver did not tell its port');
  await whenReady(port);
}
