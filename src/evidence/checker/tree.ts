import { fromHex, encodeUtf8, runInBatches, sha256, toHex } from './bytes.js';
import { assertFolder } from './fault.js';
import { groupBy } from './group-by.js';
import type { Leaf, NodeLine } from './parse-evidence.js';
import type { Checkpoint } from './signed-checkpoint.js';

const HASHES_AT_ONCE = 1000;
/** The first byte of what is hashed for a leaf, and for an inner node, as in RFC 9162. */
const LEAF_PREFIX = Uint8Array.of(0);
const NODE_PREFIX = Uint8Array.of(1);

/** The known nodes of a Merkle tree. For each level, starting with the leaves: hashes in hex by their index on the level. */
export type TreeLevels = readonly ReadonlyMap<number, string>[];

/** A leaf with its commitment in hex: the SHA-256 of its salt and record. */
export type HashedLeaf = Leaf & { readonly commitment: string };

/** Computes the commitments of leaves, and maps the leaves by their index. Throws an EvidenceFault for a duplicate index. */
export async function hashLeaves(leaves: readonly Leaf[]): Promise<ReadonlyMap<number, HashedLeaf>> {
  const commitments = new Map<Leaf, string>();
  await runInBatches(leaves, HASHES_AT_ONCE, async leaf => {
    commitments.set(leaf, toHex(await sha256(fromHex(leaf.salt), encodeUtf8(leaf.recordJson))));
  });
  const byIndex = new Map<number, HashedLeaf>();
  for (const leaf of leaves) {
    assertFolder(!byIndex.has(leaf.leafIndex), `leaf ${leaf.leafIndex} is there twice`);
    byIndex.set(leaf.leafIndex, { ...leaf, commitment: commitments.get(leaf) ?? '' });
  }
  return byIndex;
}

/**
 * Checks the inclusion proofs of all shown leaves at once: computes the Merkle tree (RFC 9162) from these leaves and the nodes of the
 * folder. Returns all known nodes. Throws an EvidenceFault if the root is not that of the checkpoint, if a node is missing, or if the
 * folder has a superfluous node, which can be computed from others.
 */
export async function buildTree(
  { size, root }: Checkpoint,
  leaves: ReadonlyMap<number, HashedLeaf>,
  nodes: readonly NodeLine[],
): Promise<TreeLevels> {
  let known = new Map<number, string>();
  const leafHashes = known;
  await runInBatches([...leaves.values()], HASHES_AT_ONCE, async ({ leafIndex, commitment }) => {
    assertFolder(leafIndex < size, `leaf ${leafIndex} lies outside the checkpoint`);
    leafHashes.set(leafIndex, toHex(await sha256(LEAF_PREFIX, fromHex(commitment))));
  });
  const levels: Map<number, string>[] = [];
  const nodesByLevel = groupBy(nodes, ({ level }) => level);
  for (let [level, count] = [0, size]; ; [level, count] = [level + 1, Math.ceil(count / 2)]) {
    for (const { index, hash } of nodesByLevel.get(level) ?? []) {
      assertFolder(index < count && !known.has(index), `node ${index} of level ${level} is superfluous`);
      known.set(index, hash);
    }
    nodesByLevel.delete(level);
    levels.push(known);
    if (count === 1) break;
    known = await buildParents(known, count, level);
  }
  assertFolder(nodesByLevel.size === 0, 'the folder has nodes above the root');
  assertFolder(known.get(0) === root, 'the leaves do not lead to the root of the checkpoint');
  return levels;
}

/**
 * Computes the next level of the tree from the known nodes of a level with `count` nodes. A last node without a neighbour moves
 * up unchanged. Throws an EvidenceFault if any other node lacks its neighbour.
 */
async function buildParents(
  known: ReadonlyMap<number, string>,
  count: number,
  level: number,
): Promise<Map<number, string>> {
  const parents = new Map<number, string>();
  const pairs: (readonly [index: number, left: string, right: string])[] = [];
  for (const [index, hash] of known) {
    const isLeft = index % 2 === 0;
    if (isLeft && index === count - 1) {
      parents.set(index / 2, hash);
      continue;
    }
    const neighbour = known.get(isLeft ? index + 1 : index - 1);
    assertFolder(neighbour !== undefined, `the neighbour of node ${index} of level ${level} is missing`);
    if (isLeft) pairs.push([index / 2, hash, neighbour]);
  }
  await runInBatches(pairs, HASHES_AT_ONCE, async ([index, left, right]) => {
    parents.set(index, await hashNode(left, right));
  });
  return parents;
}

/** Computes the hash of a node from those of its children, in hex. */
async function hashNode(left: string, right: string): Promise<string> {
  return toHex(await sha256(NODE_PREFIX, fromHex(left), fromHex(right)));
}

/**
 * Computes the root of the tree of the first `size` leaves, in hex, from the complete subtrees of these leaves. Returns null if
 * one of the subtrees is not among the known nodes.
 */
export async function computeOlderRoot(levels: TreeLevels, size: number): Promise<string | null> {
  let root: string | null = null;
  for (let [level, rest] = [0, size]; rest > 0; [level, rest] = [level + 1, Math.floor(rest / 2)]) {
    if (rest % 2 === 0) continue;
    const subtree = levels[level]?.get(rest - 1);
    if (subtree === undefined) return null;
    root = root === null ? subtree : await hashNode(subtree, root);
  }
  return root;
}
