import { assertAuthentic } from './authentication-codes.js';
import { type TreeHead, parseTreeHead, type SignedTreeHead, formatTreeHead } from './checkpoint.js';
import { throwEvidenceError } from './evidence-error.js';
import { type SigningKey } from './signing-key.js';
import { openNote, signNote } from './signed-note.js';
import { NO_LIMIT, type EvidencePort } from './port.js';
import { EMPTY_TREE, createMerkleTree, type TreePeaks } from './tree.js';
import type { Sealer } from './log-writer.js';

/**
 * Rebuilds the newest tree that the key has signed (`signed`), starting from stored peaks to save time. If these are wrong,
 * starts again from the first leaf. Throws an EvidenceError if the leaves do not have the signed root.
 */
async function rebuildSignedTree(port: EvidencePort, storedPeaks: TreePeaks, signed: TreeHead | undefined) {
  for (const start of [storedPeaks, EMPTY_TREE]) {
    const tree = createMerkleTree(start);
    await tree.appendAll(port.iterateCommitments(start.size, signed?.size ?? 0));
    if (signed === undefined || tree.computeRoot() === signed.root) return tree;
  }
  return throwEvidenceError(`not signed: the first ${signed?.size} leaves are not those that were signed`);
}

/**
 * Stores the newest signed checkpoint if it is missing in the database, because a sealing run was killed before it could store the
 * checkpoint, or because somebody deleted the checkpoint. Signs it again from the file of the last signed checkpoint. Stores
 * nothing if the stored leaves do not have the signed root, or if the last signed leaf is no checkpoint leaf.
 */
export async function storeMissingCheckpoint({ port, key, lastSigned }: Sealer): Promise<void> {
  const head = lastSigned.read();
  if (head === null || (await port.findCheckpoint(head.size))?.size === head.size) return;
  const [last] = await port.listLeaves({ leafIndexes: [head.size - 1] });
  // A restored log that was not signed yet has no checkpoint.
  if (last?.kind !== 'complete') return;
  const tree = createMerkleTree(EMPTY_TREE);
  await tree.appendAll(port.iterateCommitments(0, head.size));
  if (tree.computeRoot() === head.root)
    await port.storeCheckpoint({ ...tree.getPeaks(), note: signCheckpoint(head, key()) });
}

/** Signs a checkpoint. Returns it as a C2SP signed note. */
function signCheckpoint(head: SignedTreeHead, key: SigningKey): string {
  return signNote(`${formatTreeHead(head)}${head.signedAt}\n`, key);
}

/**
 * Signs and stores a checkpoint of all `size` leaves, unless it is stored already. Throws an EvidenceError if the log does not
 * begin with all leaves that the key has ever signed, or if an unsigned leaf is not authentic.
 *
 * `sealedAt` comes from the last leaf. So a run that is killed between signing and storing is repeated with the same instant.
 */
export async function signTree(
  { port, key: readKey, lastSigned }: Sealer,
  size: number,
  sealedAt: string,
): Promise<void> {
  const key = readKey();
  const flushed = lastSigned.read();
  if (size === 0 && flushed === null) return;
  const stored = openNote((await port.findCheckpoint(NO_LIMIT))?.note ?? '', key);
  const heads = [flushed, stored === null ? null : parseTreeHead(stored)].filter(head => head !== null);
  const [last] = heads.toSorted((a, b) => b.size - a.size);
  const origin = last?.origin ?? key.name;
  const signed = last?.size ?? 0;
  if (signed > size) throwEvidenceError(`not signed: the log has ${size} leaves, and ${signed} were signed`);
  const known = (await port.findCheckpoint(signed)) ?? EMPTY_TREE;
  const tree = await rebuildSignedTree(port, known, last);
  if (signed === size && known.size === size) return;
  for await (const leaves of port.iterateLeaves(signed, size)) {
    assertAuthentic(leaves, key.codeKeys);
    for (const { commitment } of leaves) tree.append(commitment);
  }
  const { size: grown } = tree.getPeaks();
  if (grown !== size) throwEvidenceError(`not signed: of ${size} leaves ${grown} are there`);
  const head = { origin, size, root: tree.computeRoot(), signedAt: sealedAt };
  lastSigned.write(head);
  await port.storeCheckpoint({ ...tree.getPeaks(), note: signCheckpoint(head, key) });
}
