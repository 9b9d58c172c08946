import PQueue from 'p-queue';
import type { OpenReader, Reader } from '../store/contract/reader.js';

export interface Readers {
  /** One reader for one page: what it asks of one moment, or streams, is nobody else's. */
  use<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Pages of one person: more at once wait for one another. */
const AT_ONCE = 4;

/** Readers that are opened when they are needed, and kept for the next page; one that could not be opened is tried again. */
export function createReaders(open: () => Promise<OpenReader>): Readers {
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
