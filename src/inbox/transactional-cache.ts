/** Duplicates come soon after one another; so many digests are known at a time. */
export const MAX_CACHED_KEYS = 10_000;

export type TransactionalCache<Value> = ReturnType<typeof createTransactionalCache<Value>>;

/** What is known of the latest keys. What is learned within a transaction goes with it when it is rolled back. */
export function createTransactionalCache<Value>(known = new Map<string, Value>()) {
  const fresh = new Map<string, Value>();

  return {
    get: (key: string): Value | undefined => fresh.get(key) ?? known.get(key),
    /** Believed at once, and kept when the transaction is. */
    set: (key: string, value: Value) => void fresh.set(key, value),
    committed: (): void => {
      for (const [key, value] of fresh) {
        known.delete(key);
        known.set(key, value);
      }
      fresh.clear();
      for (const oldest of known.keys()) {
        if (known.size <= MAX_CACHED_KEYS) return;
        known.delete(oldest);
      }
    },
    rolledBack: () => fresh.clear(),
  };
}
