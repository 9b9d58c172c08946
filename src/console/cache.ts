/** Creates a function that caches one result for `lifetimeMs`. A new `key` replaces the cached result. */
export function createCache<T>(lifetimeMs: number) {
  let cached: { readonly at: number; readonly key: string; readonly result: Promise<T> } | null = null;

  return async (now: number, key: string, read: () => Promise<T>): Promise<T> => {
    const hasExpired = cached !== null && (now < cached.at || now - cached.at >= lifetimeMs);
    if (cached === null || hasExpired || cached.key !== key) cached = { at: now, key, result: read() };
    try {
      return await cached.result;
    } catch (error) {
      // A failed read is not cached.
      cached = null;
      throw error;
    }
  };
}
