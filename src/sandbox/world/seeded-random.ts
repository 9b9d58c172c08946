/** A seeded pseudo-random generator. */
export interface Random {
  /** Returns a number from 0 (inclusive) to 1 (exclusive). */
  next(): number;
  /** Returns an integer from 0 (inclusive) to `limit` (exclusive). */
  below(limit: number): number;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
  uuid(): string;
  /** Returns the given number of lower-case hexadecimal digits. */
  hex(digits: number): string;
}

/** Creates a pseudo-random generator. The same seed, stream name and index always give the same values. */
export function createRandom(seed: number, streamName: string, index = 0): Random {
  // So any row can be generated without the rows before it.
  let a = hashToSeed(String(seed), 0x9e3779b9);
  let b = hashToSeed(streamName, 0x85ebca6b);
  let c = index | 0;
  let counter = 1;

  /** Returns the next 32 random bits (the SFC32 algorithm). */
  function next32(): number {
    const mixed = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + mixed;
    return mixed >>> 0;
  }

  /** Returns a random integer from 0 (inclusive) to `limit` (exclusive). */
  function below(limit: number): number {
    return Math.floor((next32() / 2 ** 32) * limit);
  }

  /** Returns the given number of random hexadecimal digits. */
  function hex(digits: number): string {
    const bytes = Buffer.allocUnsafe(Math.ceil(digits / 8) * 4);
    for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32BE(next32(), at);
    return bytes.toString('hex').slice(0, digits);
  }

  // The first outputs are not yet well mixed.
  for (let round = 0; round < 12; round++) next32();

  return {
    next: () => next32() / 2 ** 32,
    below,
    pick: items => items[below(items.length)] ?? items[0],
    /** Returns a random UUID of version 4. */
    uuid(): string {
      const digits = hex(32);
      const variant = '89ab'.charAt(below(4));
      return flattenString(
        `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20)}`,
      );
    },
    hex,
  };
}

/** Copies a string that was built by concatenation, because V8 would keep all its parts in memory. */
export function flattenString(text: string): string {
  return Buffer.from(text).toString();
}

/** Hashes a text to a 32-bit integer (FNV-1a with extra mixing). Another `initialHash` gives another hash. */
function hashToSeed(text: string, initialHash: number): number {
  let hash = initialHash;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    hash ^= hash >>> 15;
  }
  return hash;
}
