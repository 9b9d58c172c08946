/** Reads what takes long no more often than it must: as long as the key is the same, and not for longer than this. Who asks meanwhile gets the same; what failed is read again. */
export function createMemory<T>(forMs: number) {
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
