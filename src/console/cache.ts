interface CachedResult<T> {
  readonly at: number;
  readonly key: string;
  readonly result: Promise<T>;
  lifetimeMs: number;
}

/** How long a result is cached: always as long, or depending on how long it took to read. */
type Lifetime = number | ((tookMs: number) => number);

/**
 * Creates a function that caches the result of the latest read. It calls `read` if that result is too old or was read for
 * another key.
 */
export function createCache<T>(lifetime: Lifetime, clock: () => number = () => performance.now()) {
  let cached: CachedResult<T> | null = null;

  /**
   * Starts a read at the time `at` and returns its cache entry at once. A lifetime that depends on how long the read takes is
   * set when it ends.
   */
  function startReading(at: number, key: string, read: () => Promise<T>): CachedResult<T> {
    if (typeof lifetime === 'number') return { at, key, result: read(), lifetimeMs: lifetime };
    const startedMs = clock();
    const reading = async (): Promise<T> => {
      const result = await read();
      entry.lifetimeMs = lifetime(clock() - startedMs);
      return result;
    };
    const entry: CachedResult<T> = { at, key, result: Promise.resolve().then(reading), lifetimeMs: Infinity };
    return entry;
  }

  return async (now: number, key: string, read: () => Promise<T>): Promise<T> => {
    const hasExpired = cached !== null && (now < cached.at || now - cached.at >= cached.lifetimeMs);
    if (cached === null || hasExpired || cached.key !== key) cached = startReading(now, key, read);
    try {
      return await cached.result;
    } catch (error) {
      // A failed read is not cached.
      cached = null;
      throw error;
    }
  };
}
