import { HASH_BYTES, sha256 } from './hashes.js';

/** The first byte of what is hashed for a leaf, and for an inner node, as in RFC 9162. */
const LEAF_PREFIX = Uint8Array.of(0);
const NODE_PREFIX = Uint8Array.of(1);

/** The part of a Merkle tree (RFC 9162) that is needed to append leaves: its size and the roots of its complete subtrees. */
export type TreePeaks = {
  /** The number of leaves. */
  readonly size: number;
  /** The hashes of the largest complete subtrees, one behind the other, the largest first. */
  readonly peaks: Uint8Array;
};

/** A tree without leaves. */
export const EMPTY_TREE: TreePeaks = { size: 0, peaks: new Uint8Array(0) };

/** Receives a node of the tree: its level (leaves have 0), its index on that level, and its hash. */
type OnNode = (level: number, index: number, hash: Uint8Array) => void;

/**
 * Creates a Merkle tree (RFC 9162) that keeps only its peaks in memory. It starts from the peaks of an earlier tree. `onNode` is
 * called for each leaf and each complete subtree that is added.
 */
export function createMerkleTree({ size: start, peaks }: TreePeaks, onNode: OnNode = () => undefined) {
  const hashes = Array.from({ length: peaks.length / HASH_BYTES }, (_, position) =>
    peaks.subarray(position * HASH_BYTES, (position + 1) * HASH_BYTES),
  );
  let size = start;
  /** Appends the leaf with this commitment. */
  const append = (commitment: Uint8Array): void => {
    let [level, index, whole] = [0, size, sha256(LEAF_PREFIX, commitment)];
    onNode(level, index, whole);
    for (; index % 2 === 1; onNode(level, index, whole)) {
      whole = sha256(NODE_PREFIX, hashes.pop() ?? throwMissingHashes(size), whole);
      [level, index] = [level + 1, (index - 1) / 2];
    }
    hashes.push(whole);
    size += 1;
  };
  return {
    append,
    /** Appends the leaves of all batches. */
    appendAll: async (
      batches: AsyncIterable<readonly { readonly commitment: Uint8Array }[]>,
    ): Promise<void> => {
      for await (const batch of batches) for (const { commitment } of batch) append(commitment);
    },
    /** Returns size and peaks, from which another tree can start. */
    getPeaks: (): TreePeaks => ({ size, peaks: Buffer.concat(hashes) }),
    /** Returns the root hash of the current tree in base64, as checkpoints have it. */
    computeRoot: (): string => {
      const [last = sha256(), ...left] = hashes.toReversed();
      const root = left.reduce((right, each) => sha256(NODE_PREFIX, each, right), last);
      return Buffer.from(root).toString('base64');
    },
  };
}

function throwMissingHashes(size: number): never {
  throw new Error(`expected the hashes of a tree of ${size} leaves, got fewer`);
}
