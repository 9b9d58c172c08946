import { HASH_BYTES, sha256 } from './hashes.js';

const LEAF = Uint8Array.of(0);
const NODE = Uint8Array.of(1);

/** A Merkle tree of RFC 6962, as far as it takes to append: its size, and the hashes of its complete subtrees, the largest first. */
export type Peaks = {
  readonly size: number;
  readonly peaks: Uint8Array;
};

export const EMPTY: Peaks = { size: 0, peaks: new Uint8Array(0) };

/** A node by its level, from the leaves, and its place on that. */
type Told = (level: number, index: number, hash: Uint8Array) => void;

/** Tells each node of it that comes into being. */
export function growTree({ size: start, peaks }: Peaks, tell: Told = () => undefined) {
  const hashes = Array.from({ length: peaks.length / HASH_BYTES }, (_, place) =>
    peaks.subarray(place * HASH_BYTES, (place + 1) * HASH_BYTES),
  );
  let size = start;
  const add = (entry: Uint8Array): void => {
    let [level, index, whole] = [0, size, sha256(LEAF, entry)];
    tell(level, index, whole);
    for (; index % 2 === 1; tell(level, index, whole)) {
      whole = sha256(NODE, hashes.pop() ?? missing(size), whole);
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
    peaks: (): Peaks => ({ size, peaks: Buffer.concat(hashes) }),
    /** In base64, as checkpoints have it. The last node of a level that has no neighbour goes up as it is. */
    root: (): string => {
      const [last = sha256(), ...left] = hashes.toReversed();
      const root = left.reduce((right, each) => sha256(NODE, each, right), last);
      return Buffer.from(root).toString('base64');
    },
  };
}

function missing(size: number): never {
  throw new Error(`expected the hashes of a tree of ${size} leaves, got fewer`);
}
