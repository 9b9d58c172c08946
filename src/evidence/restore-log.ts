import { type TreeHead, type SignedHead, parseSignedHead } from './checkpoint.js';
import { createObservation, type EvidencePort } from './port.js';
import type { SigningKey } from './signing-key.js';
import { renewCodes } from './renew-key.js';
import { type Sealing, appendLeaf } from './log-writer.js';
import { EMPTY_TREE, createMerkleTree } from './tree.js';

export interface RestoredOrigin {
  readonly origin: string;
  /** Whether the log has a new name. */
  readonly isNew: boolean;
  /** The newest checkpoint that the restored log still has. */
  readonly held: TreeHead | null;
  /** The newest checkpoint that the key signed, as far as is known. */
  readonly newest: SignedHead | null;
  /** How many signed leaves were lost. */
  readonly lost: number;
}

/**
 * Continues a log after its database was restored from a backup. Returns null if nothing was sealed.
 *
 * If the log still has every leaf that the key has signed, it keeps its name. Otherwise other leaves would take the places
 * of the lost ones, so a new name begins. Its first leaf names the newest lost checkpoint, so that whoever holds that
 * checkpoint learns why the log does not continue from it. A log also gets a new name if the file with the newest signed
 * checkpoint is missing.
 *
 * A backup from before a change of the key has leaves with authentication codes of a replaced key. They get new ones.
 */
export async function beginOrigin(
  restoring: Omit<Sealing, 'holder' | 'signal'>,
  replacedKeys: readonly SigningKey[] = [],
): Promise<RestoredOrigin | null> {
  const { port, key, lastSigned, now } = restoring;
  const flushed = lastSigned.read();
  const { size } = await port.readProgress();
  if (flushed === null && size === 0) return null;
  if (replacedKeys.length > 0) {
    const accepted = [key(), ...replacedKeys].flatMap(({ codeKeys }) => codeKeys);
    await renewCodes(port, accepted, key());
  }
  const checkpoint = await port.findCheckpoint(size);
  const held = checkpoint === null ? null : parseSignedHead(checkpoint.note);
  const newest = flushed ?? held;
  const isWhole =
    flushed !== null &&
    flushed.size <= size &&
    (held === null || held.size <= flushed.size || held.origin === flushed.origin) &&
    (await computeRoot(port, flushed.size)) === flushed.root;
  if (isWhole) return { origin: flushed.origin, isNew: false, held, newest, lost: 0 };
  const at = new Date(Math.max(now(), Date.parse(newest?.signedAt ?? '') || 0)).toISOString();
  const origin = `${key().name}/${at}`;
  const lost = Math.max(0, (newest?.size ?? 0) - size);
  const record = {
    at,
    origin,
    lost,
    lost_origin: newest?.origin ?? null,
    lost_root: newest?.root ?? null,
    lost_signed_at: newest?.signedAt || null,
    lost_size: newest?.size ?? null,
    held_root: held?.root ?? null,
    held_size: held?.size ?? null,
  };
  await appendLeaf(restoring, createObservation('restore', record));
  const root = await computeRoot(port, size + 1);
  lastSigned.write({ origin, size: size + 1, root, signedAt: at });
  return { origin, isNew: true, held, newest, lost };
}

/** Returns the root of the tree of the first leaves of a log. */
async function computeRoot(port: EvidencePort, size: number): Promise<string> {
  const tree = createMerkleTree(EMPTY_TREE);
  await tree.grow(port.iterateCommitments(0, size));
  return tree.root();
}
