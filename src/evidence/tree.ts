import { HASH_BYTES, sha256 } from './hashes.js';

const LEAF_PREFIX = Uint8Array.of(0);
const NODE_PREFIX = Uint8Array.of(1);

/** A Merkle tree of RFC 6962, as far as it takes to append: its size, and the hashes of its complete subtrees, the largest first. */
export type TreePeaks = {
  readonly size: number;
  readonly peaks: Uint8Array;
};

export const EMPTY_TREE: TreePeaks = { size: 0, peaks: new Uint8Array(0) };

/** A node by its level, from the leaves, and its place on that. */
type OnNode = (level: number, index: number, hash: Uint8Array) => void;

/** Tells each node of it that comes into being. */
export function createMerkleTree({ size: start, peaks }: TreePeaks, onNode: OnNode = () => undefined) {
  const hashes = Array.from({ length: peaks.length / HASH_BYTES }, (_, place) =>
    peaks.subarray(place * HASH_BYTES, (place + 1) * HASH_BYTES),
  );
  let size = start;
  const add = (entry: Uint8Array): void => {
    let [level, index, whole] = [0, size, sha256(LEAF_PREFIX, entry)];
    onNode(level, index, whole);
    for (; index % 2 === 1; onNode(level, index, whole)) {
      whole = sha256(NODE_PREFIX, hashes.pop() ?? throwMissingHashes(size), whole);
      [level, index] = [level + 1, (index - 1) / 2];
    }
    hashes.push(whole);
    size += 1;
  };
  return {
    add,
    grow: async (leaves: AsyncIterable<readonly { readonly commitment: Uint8Array }[]>): Promise<void> => {
      for await (const some of leaves) for (const { commitment } of some) add(commitment);
    },
    peaks: (): TreePeaks => ({ size, peaks: Buffer.concat(hashes) }),
    /** In base64, as checkpoints have it. The last node of a level that has no neighbour goes up as it is. */
    root: (): string => {
      const [last = sha256(), ...left] = hashes.toReversed();
      const root = left.reduce((right, each) => sha256(NODE_PREFIX, each, right), last);
      return Buffer.from(root).toString('base64');
    },
  };
}

function throwMissingHashes(size: number): never {
  throw new Error(`expected the hashes of a tree of ${size} leaves, got fewer`);
}
