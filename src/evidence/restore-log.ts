import { type TreeHead, type SignedTreeHead, parseSignedTreeHead } from './checkpoint.js';
import { createLeafInput, type EvidencePort } from './port.js';
import type { SigningKey } from './signing-key.js';
import { renewCodes } from './renew-key.js';
import { type Sealer, appendLeaf } from './log-writer.js';
import { EMPTY_TREE, createMerkleTree } from './tree.js';

/** How an evidence log continues after its database was restored. Commands print it as JSON. */
export interface RestoredLog {
  /** The name of the log from now on. */
  readonly origin: string;
  /** True if the name is a new one. */
  readonly isNew: boolean;
  /** The newest checkpoint in the restored database; null if it has none. */
  readonly held: TreeHead | null;
  /** The newest checkpoint that the key is known to have signed; null if none is known. */
  readonly newest: SignedTreeHead | null;
  /** How many signed leaves the restored database lacks. */
  readonly lost: number;
}

/**
 * Continues a log after its database was restored from a backup. Returns null if the log is empty and was never signed.
 *
 * If the log still has every leaf that the key has signed, it keeps its name (origin). Otherwise new leaves will get the indexes of the
 * lost ones, so the log gets a new name. A leaf of kind `restore` then records the newest lost checkpoint. This leaf explains to people who
 * have the lost checkpoint why the log does not continue from there. The log also gets a new name if the file with the newest signed
 * checkpoint is missing.
 *
 * A backup from before a key was replaced has authentication codes of that key. With `replacedKeys`, all leaves get new codes.
 */
export async function continueAfterRestore(
  sealer: Omit<Sealer, 'holder' | 'signal'>,
  replacedKeys: readonly SigningKey[] = [],
): Promise<RestoredLog | null> {
  const { port, key, lastSigned, now } = sealer;
  const flushed = lastSigned.read();
  const { size } = await port.readProgress();
  if (flushed === null && size === 0) return null;
  if (replacedKeys.length > 0) {
    const accepted = [key(), ...replacedKeys].flatMap(({ codeKeys }) => codeKeys);
    await renewCodes(port, accepted, key());
  }
  const checkpoint = await port.findCheckpoint(size);
  const held = checkpoint === null ? null : parseSignedTreeHead(checkpoint.note);
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
  await appendLeaf(sealer, createLeafInput('restore', record));
  const root = await computeRoot(port, size + 1);
  lastSigned.write({ origin, size: size + 1, root, signedAt: at });
  return { origin, isNew: true, held, newest, lost };
}

/** Computes the root hash, in base64, of the tree of the first `size` leaves. */
async function computeRoot(port: EvidencePort, size: number): Promise<string> {
  const tree = createMerkleTree(EMPTY_TREE);
  await tree.appendAll(port.iterateCommitments(0, size));
  return tree.computeRoot();
}
