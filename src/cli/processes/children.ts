import type { Io } from '../io.js';
import { keepChild, type KeptChild } from './kept-child.js';
import { aborted } from './service.js';

/** What is done once both are ready: it is told the receiver's port, and leaves off where they are stopped. */
export type WhenReady = (port: number, stopping: AbortSignal) => Promise<void>;

/**
 * `receive` and `work` as processes of their own, the same code as the Procfile, so that a busy worker never stalls the
 * door. They write to our own output, and stop when we do, even when we are killed: their channel to us closes.
 * Nobody is to be sent to the receiver's port before `whenReady` is told it.
 */
export async function runChildren(
  io: Io,
  env: Io['env'],
  interrupted: AbortSignal,
  whenReady: WhenReady,
): Promise<void> {
  const giveUp = new AbortController();
  const stopping = AbortSignal.any([interrupted, giveUp.signal]);
  const receive = keepChild(io, 'receive', env, stopping);
  const work = keepChild(io, 'work', env, stopping);
  const both = [receive, work].map(({ ended }) => ended);
  try {
    const ready = introduce(receive, work, port => whenReady(port, stopping));
    await Promise.race([ready, ...both]);
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
