/** Caches one result for `forMs` and for as long as the key stays the same. Concurrent calls share one read; a failed read is not cached. */
export function createCache<T>(forMs: number) {
  let known: { readonly at: number; readonly key: string; readonly answer: Promise<T> } | null = null;

  return async (now: number, key: string, read: () => Promise<T>): Promise<T> => {
    const isOld = known !== null && (now < known.at || now - known.at >= forMs);
    if (known === null || isOld || known.key !== key) known = { at: now, key, answer: read() };
    try {
      return await known.answer;
    } catch (error) {
      known = null;
      throw error;
    }
  };
}
