/**
 * Returns the nodes of a combined Merkle proof (RFC 9162): inclusion proofs of the leaves with these indexes, and a consistency
 * proof with the tree of the first `olderSize` leaves. A node is a string of its level and its index on that level, such as
 * "3 12". `leafIndexes` must contain the last leaf of the tree.
 */
export function listProofNodes(
  leafIndexes: ReadonlySet<number>,
  olderSize: number,
  size: number,
): ReadonlySet<string> {
  const nodes = new Set<string>();
  let known = new Set(leafIndexes);
  for (let [level, count] = [0, size]; count > 1; [level, count] = [level + 1, Math.ceil(count / 2)]) {
    /** Adds the node of this index to the proof, unless the verifier can compute it. */
    const addNode = (index: number) => {
      if (index < count && !known.has(index)) nodes.add(`${level} ${index}`);
    };
    /** The older tree has a peak on this level if the bit of its size is 1. */
    const olderCount = Math.floor(olderSize / 2 ** level);
    if (olderCount % 2 === 1) {
      addNode(olderCount - 1);
      known.add(olderCount - 1);
    }
    for (const index of known) addNode(index % 2 === 0 ? index + 1 : index - 1);
    known = new Set(Array.from(known, index => Math.floor(index / 2)));
  }
  return nodes;
}
