/**
 * Returns the nodes that prove some leaves, and the subtrees of an older tree, to be in the tree. A node is named by its level and
 * its place on that level. The last leaf must be among the proven ones.
 */
export function listProofNodes(
  places: ReadonlySet<number>,
  olderSize: number,
  size: number,
): ReadonlySet<string> {
  const nodes = new Set<string>();
  let known = new Set(places);
  for (let [level, count] = [0, size]; count > 1; [level, count] = [level + 1, Math.ceil(count / 2)]) {
    const need = (index: number) => {
      if (index < count && !known.has(index)) nodes.add(`${level} ${index}`);
    };
    /** As many complete subtrees as the older size has bits. */
    const older = Math.floor(olderSize / 2 ** level);
    if (older % 2 === 1) {
      need(older - 1);
      known.add(older - 1);
    }
    for (const index of known) need(index % 2 === 0 ? index + 1 : index - 1);
    known = new Set(Array.from(known, index => Math.floor(index / 2)));
  }
  return nodes;
}
