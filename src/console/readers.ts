import type { OpenReader, Reader } from '../store/contract/reader.js';

export interface Readers {
  /** One reader for one page: what it asks of one moment, or streams, is nobody else's. */
  use<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Pages of one person: more at once wait for one another. */
const AT_ONCE = 4;

/** Readers that are opened when they are needed, and kept for the next page. */
export function createReaders(open: () => Promise<OpenReader>): Readers {
  const free = Array.from({ length: AT_ONCE }, (_, place) => place);
  const waiting: ((place: number) => void)[] = [];
  const opened = new Map<number, Promise<OpenReader>>();

  async function take(): Promise<number> {
    return free.pop() ?? (await new Promise<number>(resolve => waiting.push(resolve)));
  }

  function pass(place: number): void {
    const next = waiting.shift();
    if (next === undefined) free.push(place);
    else next(place);
  }

  /** The next page tries again where it could not be opened. */
  async function readerAt(place: number): Promise<OpenReader> {
    const reader = opened.get(place) ?? open();
    opened.set(place, reader);
    try {
      return await reader;
    } catch (error) {
      opened.delete(place);
      throw error;
    }
  }

  return {
    use: async work => {
      const place = await take();
      try {
        return await work(await readerAt(place));
      } finally {
        pass(place);
      }
    },
    close: async () => {
      const all = [...opened.values()];
      opened.clear();
      for (const reader of all) await (await reader).close();
    },
  };
}
