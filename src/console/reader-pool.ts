import PQueue from 'p-queue';
import type { OpenReader, Reader } from '../store/contract/reader.js';

export interface ReaderPool {
  /** Calls `work` with a reader that nothing else uses until `work` has ended. */
  withReader<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** One person uses the console; further pages wait. */
const MAX_READERS = 4;

/** Creates a pool of at most four database readers. Opens them on demand and reuses them. */
export function createReaderPool(open: () => Promise<OpenReader>): ReaderPool {
  const queue = new PQueue({ concurrency: MAX_READERS });
  const openReaders: OpenReader[] = [];
  const freeReaders: OpenReader[] = [];

  /** Opens another database reader. Remembers it, so that `close` closes it. */
  async function openReader(): Promise<OpenReader> {
    const reader = await open();
    openReaders.push(reader);
    return reader;
  }

  return {
    withReader: async work =>
      await queue.add(async () => {
        const reader = freeReaders.pop() ?? (await openReader());
        try {
          return await work(reader);
        } finally {
          freeReaders.push(reader);
        }
      }),
    close: async () => {
      for (const reader of openReaders.splice(0)) await reader.close();
    },
  };
}
