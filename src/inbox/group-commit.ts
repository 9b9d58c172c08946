import type { NewDelivery, StoredDelivery } from './deliveries.js';
import type { StoreResult } from './store-group.js';

export interface GroupCommit {
  /** Resolves after the delivery's transaction has been flushed to disk; rejects when it was not stored. */
  accept(delivery: NewDelivery): Promise<StoredDelivery>;
  /** Refuse from now on, and store what waits. */
  close(): Promise<void>;
  /** Deliveries that are not yet on disk. */
  waiting(): number;
}

export interface GroupCommitOptions {
  /** One transaction for all of them, one result for each. */
  readonly store: (deliveries: readonly NewDelivery[]) => Promise<readonly StoreResult[]>;
  readonly maxWaiting?: number;
}

/** A code of SQLite, or one of ours: closed, too_many_waiting, no_result. */
export class NotStoredError extends Error {
  override readonly name = 'NotStoredError';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** More than this is not stored and answered within a second. */
const MAX_WAITING = 5000;
const MAX_GROUP = 512;

/** A group of this size is worth its flush: it leaves at once, while the next is still being read. */
const EARLY_GROUP = 16;

/** One group is being flushed, the next lies ready. More would only make groups smaller. */
const MAX_UNDER_WAY = 2;

interface Waiting {
  readonly delivery: NewDelivery;
  readonly resolve: (stored: StoredDelivery) => void;
  readonly reject: (error: NotStoredError) => void;
}

/**
 * Deliveries that arrive together share one transaction, and with it one flush to disk.
 * The slower the disk, the more of them are in a group.
 */
export function createGroupCommit({ store, maxWaiting = MAX_WAITING }: GroupCommitOptions): GroupCommit {
  let waiting: Waiting[] = [];
  let groups = 0;
  let deliveries = 0;
  let closed = false;
  let drained: (() => void) | null = null;

  function sendGroups(): void {
    while (waiting.length > 0 && groups < MAX_UNDER_WAY) {
      const group = waiting.slice(0, MAX_GROUP);
      waiting = waiting.slice(MAX_GROUP);
      groups += 1;
      deliveries += group.length;
      void settle(group, store).then(() => {
        groups -= 1;
        deliveries -= group.length;
        sendGroups();
        return groups === 0 ? drained?.() : undefined;
      });
    }
  }

  return {
    accept: delivery =>
      new Promise((resolve, reject) => {
        if (closed) return reject(new NotStoredError('closed', 'the inbox is closed'));
        if (waiting.length + deliveries >= maxWaiting) {
          return reject(new NotStoredError('too_many_waiting', `${maxWaiting} deliveries wait to be stored`));
        }
        waiting.push({ delivery, resolve, reject });
        if (waiting.length === 1) setImmediate(sendGroups);
        else if (waiting.length >= EARLY_GROUP) sendGroups();
      }),
    close: () => {
      closed = true;
      return new Promise(resolve => {
        drained = resolve;
        sendGroups();
        if (groups === 0) resolve();
      });
    },
    waiting: () => waiting.length + deliveries,
  };
}

async function settle(group: readonly Waiting[], store: GroupCommitOptions['store']): Promise<void> {
  try {
    const results = await store(group.map(({ delivery }) => delivery));
    group.forEach(({ resolve, reject }, index) => {
      const result = results[index];
      if (result === undefined)
        reject(new NotStoredError('no_result', 'expected one result for each delivery'));
      else if ('failure' in result) reject(new NotStoredError(result.failure.code, result.failure.message));
      else resolve(result);
    });
  } catch (cause) {
    const error = new NotStoredError('no_result', 'the deliveries could not be handed over', { cause });
    for (const { reject } of group) reject(error);
  }
}
