const BITS = 4096;
const WORDS = BITS / 32;

/**
 * A set of version numbers in a bit each. A million rows take about 125 kB,
 * so that a pass over a list of any length remembers exactly what it has seen.
 */
export class VersionSet {
  readonly #chunks = new Map<number, Uint32Array>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(version: number): boolean {
    const word = this.#chunks.get(Math.floor(version / BITS))?.[(version % BITS) >>> 5] ?? 0;
    return (word & (1 << (version & 31))) !== 0;
  }

  /** False where it was there already. */
  add(version: number): boolean {
    const chunk = this.#chunk(Math.floor(version / BITS));
    const index = (version % BITS) >>> 5;
    const word = chunk[index] ?? 0;
    const bit = 1 << (version & 31);
    if ((word & bit) !== 0) return false;
    chunk[index] = word | bit;
    this.#size += 1;
    return true;
  }

  /** Rising within a chunk; chunks in the order of their first version. */
  *values(): Generator<number> {
    for (const [number, chunk] of this.#chunks) {
      for (let bit = 0; bit < BITS; bit += 1) {
        if (((chunk[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0) yield number * BITS + bit;
      }
    }
  }

  pack(): Uint8Array {
    const bytes = Buffer.alloc(this.#chunks.size * (8 + WORDS * 4));
    let offset = 0;
    for (const [number, chunk] of this.#chunks) {
      offset = bytes.writeDoubleLE(number, offset);
      for (const word of chunk) offset = bytes.writeUInt32LE(word, offset);
    }
    return bytes;
  }

  static unpack(packed: Uint8Array): VersionSet {
    const bytes = Buffer.from(packed.buffer, packed.byteOffset, packed.byteLength);
    const set = new VersionSet();
    for (let offset = 0; offset < bytes.length; offset += 8 + WORDS * 4) {
      const first = bytes.readDoubleLE(offset) * BITS;
      for (let bit = 0; bit < BITS; bit += 1) {
        const word = bytes.readUInt32LE(offset + 8 + (bit >>> 5) * 4);
        if ((word & (1 << (bit & 31))) !== 0) set.add(first + bit);
      }
    }
    return set;
  }

  #chunk(number: number): Uint32Array {
    const known = this.#chunks.get(number);
    if (known !== undefined) return known;
    const fresh = new Uint32Array(WORDS);
    this.#chunks.set(number, fresh);
    return fresh;
  }
}
