/** Repeatable choices: the same seed, stream and index always give the same sequence. */
export interface Random {
  /** From 0 up to 1, without 1. */
  next(): number;
  below(limit: number): number;
  pick<Item>(items: readonly [Item, ...Item[]]): Item;
  uuid(): string;
  /** Lower-case hexadecimal digits. */
  hex(digits: number): string;
}

/** Each index has a state of its own, so that any row can be made without the rows before it. */
export function createRandom(seed: number, stream: string, index = 0): Random {
  let a = hashText(String(seed), 0x9e3779b9);
  let b = hashText(stream, 0x85ebca6b);
  let c = index | 0;
  let counter = 1;

  function next32(): number {
    const mixed = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + mixed;
    return mixed >>> 0;
  }

  function below(limit: number): number {
    return Math.floor((next32() / 2 ** 32) * limit);
  }

  function hex(digits: number): string {
    const bytes = Buffer.allocUnsafe(Math.ceil(digits / 8) * 4);
    for (let at = 0; at < bytes.length; at += 4) bytes.writeUInt32BE(next32(), at);
    return bytes.toString('hex').slice(0, digits);
  }

  // The first outputs still show the seed.
  for (let round = 0; round < 12; round++) next32();

  return {
    next: () => next32() / 2 ** 32,
    below,
    pick: items => items[below(items.length)] ?? items[0],
    uuid() {
      const digits = hex(32);
      const variant = '89ab'.charAt(below(4));
      return flattenString(
        `${digits.slice(0, 8)}-${digits.slice(8, 12)}-4${digits.slice(13, 16)}-${variant}${digits.slice(17, 20)}-${digits.slice(20)}`,
      );
    },
    hex,
  };
}

/** A text that was put together keeps its parts alive beside it: of a million rows that is half of the memory. */
export function flattenString(text: string): string {
  return Buffer.from(text).toString();
}

function hashText(text: string, start: number): number {
  let hash = start;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
    hash ^= hash >>> 15;
  }
  return hash;
}
