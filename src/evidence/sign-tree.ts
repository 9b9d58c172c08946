import { assertAuthentic } from './authentication-codes.js';
import { type TreeHead, parseTreeHead, type SignedHead, formatTreeHead } from './checkpoint.js';
import { refuse } from './evidence-error.js';
import { type SigningKey } from './signing-key.js';
import { openNote, signNote } from './signed-note.js';
import { NO_LIMIT, type EvidencePort } from './port.js';
import { EMPTY_TREE, createMerkleTree, type TreePeaks } from './tree.js';
import type { Sealing } from './log-writer.js';

/**
 * Returns the newest tree that the key has signed. The stored hashes of its subtrees only save time: if they are wrong, the
 * tree is computed from all leaves.
 */
async function growSignedTree(port: EvidencePort, known: TreePeaks, signed: TreeHead | undefined) {
  for (const start of [known, EMPTY_TREE]) {
    const tree = createMerkleTree(start);
    await tree.grow(port.iterateCommitments(start.size, signed?.size ?? 0));
    if (signed === undefined || tree.root() === signed.root) return tree;
  }
  return refuse(`not signed: the first ${signed?.size} leaves are not those that were signed`);
}

/** Stores the newest signed checkpoint if a round was killed before it did, or if somebody deleted it. */
export async function storeLastSigned({ port, key, lastSigned }: Sealing): Promise<void> {
  const head = lastSigned.read();
  if (head === null || (await port.findCheckpoint(head.size))?.size === head.size) return;
  const [last] = await port.listLeaves({ places: [head.size - 1] });
  /** A restored log that was not signed yet has no checkpoint. */
  if (last?.kind !== 'complete') return;
  const tree = createMerkleTree(EMPTY_TREE);
  await tree.grow(port.iterateCommitments(0, head.size));
  if (tree.root() === head.root)
    await port.storeCheckpoint({ ...tree.peaks(), note: signCheckpoint(head, key()) });
}

function signCheckpoint(head: SignedHead, key: SigningKey): string {
  return signNote(`${formatTreeHead(head)}${head.signedAt}\n`, key);
}

/**
 * Signs the tree of all leaves, if its beginning is the newest tree that the key has signed, whatever the database says.
 * The instant comes from the last leaf, so a round that was killed between signing and storing is signed again as it was.
 */
export async function signTree(
  { port, key: readKey, lastSigned }: Sealing,
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
  if (signed > size) refuse(`not signed: the log has ${size} leaves, and ${signed} were signed`);
  const known = (await port.findCheckpoint(signed)) ?? EMPTY_TREE;
  const tree = await growSignedTree(port, known, last);
  if (signed === size && known.size === size) return;
  for await (const leaves of port.iterateLeaves(signed, size)) {
    assertAuthentic(leaves, key.codeKeys);
    for (const { commitment } of leaves) tree.add(commitment);
  }
  const { size: grown } = tree.peaks();
  if (grown !== size) refuse(`not signed: of ${size} leaves ${grown} are there`);
  const head = { origin, size, root: tree.root(), signedAt: sealedAt };
  lastSigned.write(head);
  await port.storeCheckpoint({ ...tree.peaks(), note: signCheckpoint(head, key) });
}
