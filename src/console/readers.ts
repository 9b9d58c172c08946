import type { OpenReader, Reader } from '../store/contract/reader.js';

export interface Readers {
  /** One reader for one page: what it asks of one moment, or streams, is nobody else's. */
  use<T>(work: (reader: Reader) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Pages of one person: more at once wait for one another. */
const AT_ONCE = 4;

/** Readers that are opened when they are needed, and kept for the next page; one for all of them where it can be asked by several. */
export function createReaders(open: () => Promise<OpenReader>, isShared = false): Readers {
  const idle: OpenReader[] = [];
  const all: OpenReader[] = [];
  const waiting: (() => void)[] = [];
  let busy = 0;
  let shared: Promise<OpenReader> | null = null;

  async function take(): Promise<OpenReader> {
    if (isShared) return await share();
    const known = idle.pop();
    if (known !== undefined) return known;
    return await openOne();
  }

  async function openOne(): Promise<OpenReader> {
    const reader = await open();
    all.push(reader);
    return reader;
  }

  /** The next page tries again where it could not be opened. */
  async function share(): Promise<OpenReader> {
    shared ??= openOne();
    try {
      return await shared;
    } catch (error) {
      shared = null;
      throw error;
    }
  }

  async function turn(): Promise<void> {
    if (busy < AT_ONCE) {
      busy += 1;
      return;
    }
    await new Promise<void>(resolve => waiting.push(resolve));
  }

  function pass(): void {
    const next = waiting.shift();
    if (next === undefined) busy -= 1;
    else next();
  }

  return {
    use: async work => {
      await turn();
      try {
        const reader = await take();
        try {
          return await work(reader);
        } finally {
          if (!isShared) idle.push(reader);
        }
      } finally {
        pass();
      }
    },
    close: async () => {
      for (const reader of all.splice(0)) await reader.close();
    },
  };
}
