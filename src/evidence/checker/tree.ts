import { fromHex, encodeUtf8, runInBatches, sha256, toHex } from './bytes.js';
import { assertFolder } from './fault.js';
import { groupBy } from './group-by.js';
import type { Leaf, NodeLine } from './parse-evidence.js';
import type { Checkpoint } from './signed-checkpoint.js';

const HASHES_AT_ONCE = 1000;
const LEAF_PREFIX = Uint8Array.of(0);
const NODE_PREFIX = Uint8Array.of(1);

/** Known nodes of the tree: for each level from the leaves up, hashes in hex by their index. */
export type TreeLevels = readonly ReadonlyMap<number, string>[];

/** A leaf with its commitment, which is the SHA-256 of salt and record. */
export type HashedLeaf = Leaf & { readonly commitment: string };

export async function hashLeaves(leaves: readonly Leaf[]): Promise<ReadonlyMap<number, HashedLeaf>> {
  const commitments = new Map<Leaf, string>();
  await runInBatches(leaves, HASHES_AT_ONCE, async leaf => {
    commitments.set(leaf, toHex(await sha256(fromHex(leaf.salt), encodeUtf8(leaf.text))));
  });
  const byPlace = new Map<number, HashedLeaf>();
  for (const leaf of leaves) {
    assertFolder(!byPlace.has(leaf.place), `leaf ${leaf.place} is there twice`);
    byPlace.set(leaf.place, { ...leaf, commitment: commitments.get(leaf) ?? '' });
  }
  return byPlace;
}

/**
 * Computes the tree of RFC 6962 from the shown leaves and the nodes of the folder, up to the root of the checkpoint. A node
 * that can be computed must not be in the folder, and none may be superfluous.
 */
export async function buildTree(
  { size, root }: Checkpoint,
  leaves: ReadonlyMap<number, HashedLeaf>,
  nodes: readonly NodeLine[],
): Promise<TreeLevels> {
  let known = new Map<number, string>();
  const leafHashes = known;
  await runInBatches([...leaves.values()], HASHES_AT_ONCE, async ({ place, commitment }) => {
    assertFolder(place < size, `leaf ${place} lies outside the checkpoint`);
    leafHashes.set(place, toHex(await sha256(LEAF_PREFIX, fromHex(commitment))));
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

/** Computes the next level of the tree. A last node without a neighbour moves up unchanged. */
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

async function hashNode(left: string, right: string): Promise<string> {
  return toHex(await sha256(NODE_PREFIX, fromHex(left), fromHex(right)));
}

/**
 * Computes the root that the first `size` leaves of the tree have, from its complete subtrees. Returns null if a subtree is not
 * among the known nodes.
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
