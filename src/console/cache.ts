interface CachedResult<T> {
  readonly at: number;
  readonly key: string;
  readonly result: Promise<T>;
  lifetimeMs: number;
}

/** How long a result is cached, in milliseconds: a constant, or a function of how long the read took. */
type Lifetime = number | ((tookMs: number) => number);

/**
 * Creates a function that returns the cached result of the latest read. The function calls `read` again if the cached result is too
 * old or belongs to another key. A failed read is not cached.
 */
export function createCache<T>(lifetime: Lifetime, clock: () => number = () => performance.now()) {
  let cached: CachedResult<T> | null = null;

  /**
   * Starts a read and returns its cache entry at once. `at` is the time of the read. If the lifetime of the entry depends on the
   * duration of the read, the lifetime is set when the read ends.
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
