import type { Reader } from '../store/contract/reader.js';

type About<Asked extends readonly unknown[], T> = (
  reader: Reader,
  now: number,
  ...asked: Asked
) => Promise<T>;

interface Remembered<Asked extends readonly unknown[]> {
  readonly forMs: number;
  /** As long as it says the same, so does the answer. */
  readonly keyOf?: About<Asked, string>;
}

/** Reads what takes long no more often than it must; who asks meanwhile gets the same. What failed is read again. */
export function remember<Asked extends readonly unknown[], T>(
  read: About<Asked, T>,
  { forMs, keyOf = async () => '' }: Remembered<Asked>,
): About<Asked, T> {
  let known: { readonly at: number; readonly key: string; readonly answer: Promise<T> } | null = null;

  return async (reader, now, ...asked) => {
    const key = await keyOf(reader, now, ...asked);
    if (known === null || now - known.at >= forMs || known.key !== key)
      known = { at: now, key, answer: read(reader, now, ...asked) };
    try {
      return await known.answer;
    } catch (error) {
      known = null;
      throw error;
    }
  };
}
