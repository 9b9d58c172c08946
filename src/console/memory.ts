import type { Reader } from '../store/contract/reader.js';

const MINUTE_MS = 60_000;

/** Reads once a minute at most; who asks meanwhile gets the same. What failed is read again. */
export function rememberForAMinute<T>(read: (reader: Reader, now: number) => Promise<T>) {
  let known: { readonly at: number; readonly answer: Promise<T> } | null = null;

  return async (reader: Reader, now: number): Promise<T> => {
    if (known === null || now - known.at >= MINUTE_MS) known = { at: now, answer: read(reader, now) };
    try {
      return await known.answer;
    } catch (error) {
      known = null;
      throw error;
    }
  };
}
