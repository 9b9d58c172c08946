/** Creates a random number generator with a seed, so that a failure can be repeated. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Returns a random item; `fallback` if there are none. */
export function pick<T>(random: () => number, items: readonly T[], fallback: T): T {
  return items[Math.floor(random() * items.length)] ?? fallback;
}
