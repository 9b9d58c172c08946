import { sha256 } from './hashes.js';
import { LEAF, NODE, rootOf } from './tree.js';

interface Node {
  readonly level: number;
  readonly index: number;
  readonly hash: Uint8Array;
  /** Whether who reads the proof can compute it. */
  readonly isKnown: boolean;
}

/** Goes through all commitments of a log, and tells the nodes without which some leaves, and the complete subtrees of an older tree, do not lead to its root. */
export function proveLeaves(
  places: ReadonlySet<number>,
  olderSize: number,
  tell: (level: number, index: number, hash: string) => void,
) {
  const peaks: Node[] = [];
  const told = (node: Node): void => tell(node.level, node.index, Buffer.from(node.hash).toString('hex'));
  /** As many complete subtrees as the older size has bits. */
  const isOlderPeak = ({ level, index }: Pick<Node, 'level' | 'index'>): boolean => {
    const count = Math.floor(olderSize / 2 ** level);
    return count % 2 === 1 && index === count - 1;
  };
  const sure = (node: Node): Node => {
    if (node.isKnown || !isOlderPeak(node)) return node;
    told(node);
    return { ...node, isKnown: true };
  };
  const pair = (left: Node, right: Node): Node => {
    if (left.isKnown !== right.isKnown) told(left.isKnown ? right : left);
    const { level, index } = left;
    const hash = sha256(NODE, left.hash, right.hash);
    return { level: level + 1, index: index / 2, hash, isKnown: left.isKnown || right.isKnown };
  };
  let size = 0;
  return {
    add: (commitment: Uint8Array): void => {
      const isKnown = places.has(size);
      let node = sure({ level: 0, index: size, hash: sha256(LEAF, commitment), isKnown });
      while (node.index % 2 === 1) node = sure(pair(peaks.pop() ?? node, node));
      peaks.push(node);
      size += 1;
    },
    size: (): number => size,
    /** In base64, as checkpoints have it. */
    root: (): string => rootOf(peaks.map(({ hash }) => hash)),
    /** The last node of a level that has no neighbour goes up as it is. */
    end: (): void => {
      let last = peaks.pop();
      for (let left = peaks.pop(); left !== undefined && last !== undefined; left = peaks.pop())
        last = pair(left, { ...last, level: left.level, index: left.index + 1 });
    },
  };
}
