export type Random = () => number;

/** Creates a Mulberry32 random number generator. The same seed gives the same numbers, so that a failure can be repeated. */
export function createRandom(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Returns a random item; `fallback` if there are none. */
export function pick<T>(random: Random, items: readonly T[]): T | undefined;
export function pick<T>(random: Random, items: readonly T[], fallback: T): T;
export function pick<T>(random: Random, items: readonly T[], fallback?: T): T | undefined {
  return items[Math.floor(random() * items.length)] ?? fallback;
}
