export type IdSet = ReturnType<typeof createIdSet>;

/**
 * Creates a set of ids that stores only a 32-bit hash of each. It takes four to eight bytes per id, where a `Set` takes
 * a hundred. Two ids may have the same hash (for a new id among a million, once in 4,000 times), so use it only where a
 * decision needs many ids to agree.
 */
export function createIdSet() {
  let table = new Uint32Array(1024);
  let size = 0;

  /** Doubles the table once more than half of it is used. */
  function growIfHalfFull(): void {
    if (size * 2 <= table.length) return;
    const largerTable = new Uint32Array(table.length * 2);
    for (const idHash of table) if (idHash !== 0) insertHash(largerTable, idHash);
    table = largerTable;
  }

  return {
    /** Adds an id and returns whether it is new. */
    add(id: string): boolean {
      if (!insertHash(table, hashId(id))) return false;
      size += 1;
      growIfHalfFull();
      return true;
    },
  };
}

/** Inserts a hash by linear probing and returns whether it is new. Empty entries are 0. */
function insertHash(table: Uint32Array, idHash: number): boolean {
  const indexMask = table.length - 1;
  let index = idHash & indexMask;
  while (table[index] !== 0) {
    if (table[index] === idHash) return false;
    index = (index + 1) & indexMask;
  }
  table[index] = idHash;
  return true;
}

/** Returns a 32-bit hash of an id that is never 0: FNV-1a with a final mix of the bits. */
export function hashId(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0 || 1;
}
