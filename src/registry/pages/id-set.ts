export type IdSet = ReturnType<typeof createIdSet>;

/** Creates a compact set of ids that stores 32-bit hashes. Different ids with equal hashes count as the same id. */
export function createIdSet() {
  // An entry takes four to eight bytes, where a `Set` takes a hundred. A new id among a million has the hash of another
  // id once in 4,000 times.
  let table = new Uint32Array(1024);
  let size = 0;

  /** Doubles the capacity of the hash table if more than half of it is used. */
  function growIfHalfFull(): void {
    if (size * 2 <= table.length) return;
    const largerTable = new Uint32Array(table.length * 2);
    for (const idHash of table) if (idHash !== 0) insertHash(largerTable, idHash);
    table = largerTable;
  }

  return {
    /** Adds an id to the set. Returns true if the id is new. */
    add(id: string): boolean {
      if (!insertHash(table, hashId(id))) return false;
      size += 1;
      growIfHalfFull();
      return true;
    },
  };
}

/** Inserts a hash into the table by linear probing. Returns true if the hash is new. */
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

/** Computes a 32-bit FNV-1a hash of an id. The hash is never 0. */
export function hashId(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0 || 1;
}
