import { setTimeout as sleep } from 'node:timers/promises';
import { createLeaf } from './leaf.js';
import type { SigningKey } from './signing-key.js';
import type { LastSigned } from './key-file.js';
import { type EvidencePort, type Observation, type Leaf } from './port.js';

/** The database, key, clock and random numbers of a process that writes to the log. Only one may write at a time. */
export interface LogWriter {
  readonly port: EvidencePort;
  /** Reads the key again at each use, because "evidence renew" may replace it. */
  readonly key: () => SigningKey;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  /** A unique name of the writer. */
  readonly holder: string;
}

/** A writer that seals: it also remembers its last checkpoint, and can be stopped. */
export interface Sealing extends LogWriter {
  readonly lastSigned: LastSigned;
  readonly signal: AbortSignal;
}

export const LEAF_SALT_BYTES = 32;

/** Expired, also for a clock that stands still or was set back. */
export const RELEASED_LOCK = 0;
const LOCK_RETRY_MS = 200;

/** Longer than any purge. If a writer is killed, others wait at most so long. */
const ERASE_MS = 600_000;

/** Waits until no other process writes the log, then runs `work` under the lock. */
export async function withWriterLock<T>(
  { port, now, holder }: LogWriter,
  work: () => Promise<T>,
): Promise<T> {
  while (!(await port.acquireLock(holder, now(), now() + ERASE_MS))) await sleep(LOCK_RETRY_MS);
  const done = await work();
  await port.acquireLock(holder, now(), RELEASED_LOCK);
  return done;
}

export async function appendLeaf(
  writing: Omit<LogWriter, 'holder'>,
  observation: Observation,
): Promise<void> {
  const { size } = await writing.port.readProgress();
  await writing.port.appendLeaves([newLeaf(writing, observation, size)]);
}

export function newLeaf(
  { key, randomBytes }: Omit<LogWriter, 'holder'>,
  observation: Observation,
  place: number,
): Leaf {
  return createLeaf(observation, randomBytes(LEAF_SALT_BYTES), place, key().codeKeys[0]);
}
