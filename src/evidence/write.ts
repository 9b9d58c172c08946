import { setTimeout as sleep } from 'node:timers/promises';
import { leafOf } from './commitment.js';
import { type EvidencePort, type Observation, createObservation, type LeafFilter } from './port.js';

/** Who writes the log: one at a time. */
export interface Writing {
  readonly port: EvidencePort;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  /** A name of its own for who writes. */
  readonly holder: string;
}

export const SALT_BYTES = 32;
/** Long over, also for a clock that stands still or was set back. */
export const RELEASED = 0;
const CLAIM_LOOK_MS = 200;
/** No purge takes longer, and who is killed keeps nobody from sealing for longer. */
const ERASE_MS = 600_000;

/** For one who writes beside the sealer, once that one has ended its round. */
export async function withClaim<T>({ port, now, holder }: Writing, work: () => Promise<T>): Promise<T> {
  while (!(await port.claim(holder, now(), now() + ERASE_MS))) await sleep(CLAIM_LOOK_MS);
  const done = await work();
  await port.claim(holder, now(), RELEASED);
  return done;
}

export async function appendOne(
  { port, randomBytes }: Omit<Writing, 'holder'>,
  fact: Observation,
): Promise<void> {
  const { size } = await port.ends();
  await port.append([leafOf(randomBytes(SALT_BYTES), fact, size)]);
}

/** Takes the salts of what is removed meanwhile, and says of how many: what was sealed of it stays, and tells nothing. */
export async function erase<T>(
  writing: Writing,
  kind: 'forget' | 'purge',
  what: () => Promise<LeafFilter>,
  remove: () => Promise<T>,
): Promise<T> {
  const { port, now } = writing;
  return await withClaim(writing, async () => {
    const gone = await what();
    const leaves = await port.salted(gone);
    const at = new Date(now()).toISOString();
    if (leaves > 0) await appendOne(writing, createObservation(kind, { leaves, at }));
    await port.unsalt(gone);
    return await remove();
  });
}
