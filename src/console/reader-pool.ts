import PQueue from 'p-queue';
import type { OpenReader, Reader } from '../store/contract/reader.js';

export interface ReaderPool {
  /** Lends a reader to one page. Its snapshot and its streams are not shared. */
  use<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** One person uses the console; further pages wait. */
const AT_ONCE = 4;

/** Creates a pool that opens readers on demand and keeps them for later pages. */
export function createReaderPool(open: () => Promise<OpenReader>): ReaderPool {
  const queue = new PQueue({ concurrency: AT_ONCE });
  const opened: OpenReader[] = [];
  const free: OpenReader[] = [];

  async function openOne(): Promise<OpenReader> {
    const reader = await open();
    opened.push(reader);
    return reader;
  }

  return {
    use: async work =>
      await queue.add(async () => {
        const reader = free.pop() ?? (await openOne());
        try {
          return await work(reader);
        } finally {
          free.push(reader);
        }
      }),
    close: async () => {
      for (const reader of opened.splice(0)) await reader.close();
    },
  };
}
