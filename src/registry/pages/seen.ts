export type Seen = ReturnType<typeof createSeen>;

/**
 * Fingerprints of ids in a flat table: four to eight bytes an id, where a Set takes a hundred.
 * Two ids may share a fingerprint (once in 4,000 for a new id among a million).
 * A whole page of such ids does not happen, and only a whole page ends a list.
 */
export function createSeen() {
  let table = new Uint32Array(1024);
  let used = 0;

  return {
    /** True if the id was not there before. */
    add(id: string): boolean {
      if (!place(table, fingerprint(id))) return false;
      used += 1;
      if (used * 2 > table.length) {
        const larger = new Uint32Array(table.length * 2);
        for (const print of table) if (print !== 0) place(larger, print);
        table = larger;
      }
      return true;
    },
  };
}

function place(into: Uint32Array, print: number): boolean {
  const mask = into.length - 1;
  let at = print & mask;
  while (into[at] !== 0) {
    if (into[at] === print) return false;
    at = (at + 1) & mask;
  }
  into[at] = print;
  return true;
}

/** FNV-1a with a last stir, never 0. */
export function fingerprint(id: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < id.length; at += 1) hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0 || 1;
}
