import { setTimeout as sleep } from 'node:timers/promises';
import { createLeaf } from './leaf.js';
import type { SigningKey } from './signing-key.js';
import type { LastSignedFile } from './key-file.js';
import { type EvidencePort, type LeafInput, type Leaf } from './port.js';

/** A process that writes to the evidence log: its database, key, clock and random numbers. Only one may write at a time. */
export interface LogWriter {
  readonly port: EvidencePort;
  /** Reads the key file anew at each call, because "evidence renew" may replace it. */
  readonly key: () => SigningKey;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  /** A unique name of the process, under which it holds the writer lock. */
  readonly holder: string;
}

/** A log writer that also signs checkpoints. */
export interface Sealer extends LogWriter {
  readonly lastSigned: LastSignedFile;
  /** Stops the sealer before its next write. */
  readonly signal: AbortSignal;
}

export const LEAF_SALT_BYTES = 32;

/** The expiry instant that releases the lock. It is in the past even for a clock that stands still or was set back. */
export const RELEASED_LOCK = 0;
const LOCK_RETRY_MS = 200;

/** How long `withWriterLock` locks the log: longer than any purge. After a writer is killed, others wait until then. */
const LOCK_MS = 600_000;

/**
 * Waits until no other process writes the log, then runs `work` under the writer lock. If `work` throws, the lock is kept until
 * it expires.
 */
export async function withWriterLock<Result>(
  { port, now, holder }: LogWriter,
  work: () => Promise<Result>,
): Promise<Result> {
  while (!(await port.acquireLock(holder, now(), now() + LOCK_MS))) await sleep(LOCK_RETRY_MS);
  const result = await work();
  await port.acquireLock(holder, now(), RELEASED_LOCK);
  return result;
}

/** Appends a leaf to the end of the log. The caller must hold the writer lock. Signs no checkpoint. */
export async function appendLeaf(writer: Omit<LogWriter, 'holder'>, input: LeafInput): Promise<void> {
  const { size } = await writer.port.readProgress();
  await writer.port.appendLeaves([createSaltedLeaf(writer, input, size)]);
}

/** Creates the leaf of an input with a new random salt and the current key. Stores nothing. */
export function createSaltedLeaf(
  { key, randomBytes }: Pick<LogWriter, 'key' | 'randomBytes'>,
  input: LeafInput,
  leafIndex: number,
): Leaf {
  return createLeaf(input, randomBytes(LEAF_SALT_BYTES), leafIndex, key().codeKeys[0]);
}
