import type { NewDelivery, StoredDelivery } from './deliveries.js';

export interface GroupCommit {
  /** Resolves after the delivery's transaction has been flushed to disk; rejects when it was not stored. */
  accept(delivery: NewDelivery): Promise<StoredDelivery>;
  /** Store what waits, then refuse. */
  close(): void;
  /** Deliveries that wait for a commit. */
  waiting(): number;
}

export interface GroupCommitOptions {
  /** One transaction for all of them; throws when none was stored. */
  readonly store: (deliveries: readonly NewDelivery[], now: number) => StoredDelivery[];
  readonly now: () => number;
  readonly maxWaiting?: number;
}

/** More than this cannot be stored and answered within a second. */
const MAX_WAITING = 5000;

/** A transaction of this many keeps the event loop busy for some 10 ms. */
const MAX_GROUP = 512;

interface Waiting {
  readonly delivery: NewDelivery;
  readonly resolve: (stored: StoredDelivery) => void;
  readonly reject: (error: unknown) => void;
}

/** Deliveries that arrive together share one transaction, and with it one flush to disk. */
export function createGroupCommit({ store, now, maxWaiting = MAX_WAITING }: GroupCommitOptions): GroupCommit {
  let waiting: Waiting[] = [];
  let closed = false;

  function flush(): void {
    const group = waiting.slice(0, MAX_GROUP);
    waiting = waiting.slice(MAX_GROUP);
    if (waiting.length > 0) setImmediate(flush);
    storeGroup(group);
  }

  function storeGroup(group: readonly Waiting[]): void {
    try {
      const stored = store(
        group.map(({ delivery }) => delivery),
        now(),
      );
      group.forEach(({ resolve, reject }, index) => {
        const row = stored[index];
        if (row === undefined) reject(new Error('expected one stored row for each delivery'));
        else resolve(row);
      });
    } catch (error) {
      if (group.length > 1 && !isBusy(error)) for (const one of group) storeGroup([one]);
      else for (const { reject } of group) reject(error);
    }
  }

  return {
    accept: delivery =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new Error('the receiver is shutting down'));
        if (waiting.length >= maxWaiting) return reject(new Error('too many deliveries wait to be stored'));
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({ delivery, resolve, reject });
      }),
    close: () => {
      closed = true;
      while (waiting.length > 0) flush();
    },
    waiting: () => waiting.length,
  };
}

/** Each attempt would wait for the same lock as long again, and nothing else would run meanwhile. */
function isBusy(error: unknown): boolean {
  return error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_BUSY');
}
