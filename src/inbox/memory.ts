export interface Memory<Value> {
  readonly get: (key: string) => Value | undefined;
  /** Believed at once, and kept when the transaction is. */
  readonly set: (key: string, value: Value) => void;
  readonly committed: () => void;
  readonly rolledBack: () => void;
}

/** Repeats come soon after one another; so many digests are known at a time. */
export const REMEMBERED = 10_000;

/** What is known of the latest keys. What is learned within a transaction goes with it when it is rolled back. */
export function createMemory<Value>(known = new Map<string, Value>()): Memory<Value> {
  const fresh = new Map<string, Value>();

  return {
    get: key => fresh.get(key) ?? known.get(key),
    set: (key, value) => void fresh.set(key, value),
    committed: () => {
      for (const [key, value] of fresh) {
        known.delete(key);
        known.set(key, value);
      }
      fresh.clear();
      for (const oldest of known.keys()) {
        if (known.size <= REMEMBERED) return;
        known.delete(oldest);
      }
    },
    rolledBack: () => fresh.clear(),
  };
}
