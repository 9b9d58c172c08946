/** The nodes, as level and place on it, without which some leaves, and the complete subtrees of an older tree, do not lead to the root. The last leaf is one of them: so what goes up without a neighbour is known. */
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
