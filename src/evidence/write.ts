import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createLeaf } from './commitment.js';
import { readComplete, sumOfPlaces } from './complete.js';
import type { SigningKey } from './note.js';
import {
  ALL,
  type EvidencePort,
  type Observation,
  createObservation,
  type Leaf,
  type LeafFilter,
} from './port.js';

/** What a writer of the log needs. Only one at a time may write. */
export interface Writing {
  readonly port: EvidencePort;
  /** Reads the key again at each use, because "evidence renew" may replace it. */
  readonly key: () => SigningKey;
  readonly now: () => number;
  readonly randomBytes: (size: number) => Uint8Array;
  /** A unique name of the writer. */
  readonly holder: string;
}

export const SALT_BYTES = 32;
/** The SHA-256 of no places. */
export const NOTHING_ERASED = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
/** Expired, also for a clock that stands still or was set back. */
export const RELEASED = 0;
const CLAIM_LOOK_MS = 200;
/** Longer than any purge. If a writer is killed, others wait at most so long. */
const ERASE_MS = 600_000;

/** Waits until no other process writes the log, then runs `work` under the claim. */
export async function withClaim<T>({ port, now, holder }: Writing, work: () => Promise<T>): Promise<T> {
  while (!(await port.claim(holder, now(), now() + ERASE_MS))) await sleep(CLAIM_LOOK_MS);
  const done = await work();
  await port.claim(holder, now(), RELEASED);
  return done;
}

export async function appendOne(writing: Omit<Writing, 'holder'>, fact: Observation): Promise<void> {
  const { size } = await writing.port.ends();
  await writing.port.append([newLeaf(writing, fact, size)]);
}

function newLeaf({ key, randomBytes }: Omit<Writing, 'holder'>, fact: Observation, place: number): Leaf {
  return createLeaf(fact, randomBytes(SALT_BYTES), place, key().codeKeys[0]);
}

/**
 * Removes rows with `remove`, and erases the salts of their leaves. The hashes of the leaves stay, and reveal nothing. A new
 * leaf says how many were erased. Its other fields let the sealer check that nobody else erases a leaf:
 *
 * - `erased_sha256`: the SHA-256 of the places of all erased leaves.
 * - `erased_changes`: how many of the leaves that are erased now counted in the months of an organization that stays.
 * - `unlisted_places`: the sum of the places of those that the last leaf of the newest checkpoint lists.
 */
export async function erase<T>(
  writing: Writing,
  kind: 'forget' | 'purge',
  selectLeaves: () => Promise<LeafFilter>,
  remove: () => Promise<T>,
): Promise<T> {
  const { port, now } = writing;
  return await withClaim(writing, async () => {
    const which = await selectLeaves();
    const leaves = await port.salted(which);
    if (leaves.length > 0) {
      const places = new Set(leaves.map(({ place }) => place));
      const { place: before } = await readComplete(port, ALL);
      const listed = [
        ...(await port.leaves({ newest: 'organization', before })),
        ...(await port.leaves({ newest: 'coverage', before })),
      ];
      const unlisted = listed.filter(({ place }) => places.has(place));
      const subjects = new Set(unlisted.map(({ subject }) => subject));
      const changes = leaves.filter(leaf => leaf.kind === 'change' && !subjects.has(leaf.subject));
      const record = {
        leaves: leaves.length,
        at: new Date(now()).toISOString(),
        erased_sha256: await hashPlaces(port, [...places]),
        erased_changes: changes.length,
        unlisted_places: sumOfPlaces(unlisted),
      };
      const { size } = await port.ends();
      await port.erase(newLeaf(writing, createObservation(kind, record), size), which);
    }
    return await remove();
  });
}

/** Returns the SHA-256 of the places of all erased leaves, in order, each with a line end; `added` are about to be erased. */
export async function hashPlaces(port: EvidencePort, added: readonly number[] = []): Promise<string> {
  const all = [...added];
  for await (const places of port.erasedPlaces()) for (const place of places) all.push(place);
  const hash = createHash('sha256');
  for (const place of all.toSorted((one, other) => one - other)) hash.update(`${place}\n`);
  return hash.digest('hex');
}
