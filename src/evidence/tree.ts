import { HASH_BYTES, sha256 } from './hashes.js';

export const LEAF = Uint8Array.of(0);
export const NODE = Uint8Array.of(1);

/** A Merkle tree of RFC 6962, as far as it takes to append: its size, and the hashes of its complete subtrees, the largest first. */
export interface Peaks {
  readonly size: number;
  readonly peaks: Uint8Array;
}

export const EMPTY: Peaks = { size: 0, peaks: new Uint8Array(0) };

export function growTree({ size: start, peaks }: Peaks) {
  const hashes = Array.from({ length: peaks.length / HASH_BYTES }, (_, place) =>
    peaks.subarray(place * HASH_BYTES, (place + 1) * HASH_BYTES),
  );
  let size = start;
  return {
    add: (entry: Uint8Array): void => {
      let whole = sha256(LEAF, entry);
      for (let rest = size; rest % 2 === 1; rest = (rest - 1) / 2)
        whole = sha256(NODE, hashes.pop() ?? missing(size), whole);
      hashes.push(whole);
      size += 1;
    },
    peaks: (): Peaks => ({ size, peaks: Buffer.concat(hashes) }),
    /** In base64, as checkpoints have it. */
    root: (): string => rootOf(hashes),
  };
}

/** Of the complete subtrees, the largest first. */
export function rootOf(peaks: readonly Uint8Array[]): string {
  const [last = sha256(), ...left] = peaks.toReversed();
  return Buffer.from(left.reduce((right, each) => sha256(NODE, each, right), last)).toString('base64');
}

function missing(size: number): never {
  throw new Error(`expected the hashes of a tree of ${size} leaves, got fewer`);
}
