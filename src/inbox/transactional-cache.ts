/** Limits the cache. The latest keys suffice, because duplicates arrive soon after one another. */
export const MAX_CACHED_KEYS = 10_000;

export type TransactionalCache<Value> = ReturnType<typeof createTransactionalCache<Value>>;

/**
 * Creates a cache for values that a database transaction writes. After the transaction, call `commit` to keep new values or
 * `rollBack` to discard them.
 */
export function createTransactionalCache<Value>(committedValues = new Map<string, Value>()) {
  const pendingValues = new Map<string, Value>();

  return {
    get: (key: string): Value | undefined => pendingValues.get(key) ?? committedValues.get(key),
    set: (key: string, value: Value) => void pendingValues.set(key, value),
    /** Keeps the pending values, and drops the oldest keys beyond the limit. */
    commit: (): void => {
      for (const [key, value] of pendingValues) {
        // Deleting first moves the key to the end of the map, which is ordered by insertion.
        committedValues.delete(key);
        committedValues.set(key, value);
      }
      pendingValues.clear();
      for (const oldestKey of committedValues.keys()) {
        if (committedValues.size <= MAX_CACHED_KEYS) return;
        committedValues.delete(oldestKey);
      }
    },
    rollBack: () => pendingValues.clear(),
  };
}
