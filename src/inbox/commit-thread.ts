import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { NewDelivery } from './deliveries.js';
import type { StoreResult } from './store-group.js';

export interface CommitThread {
  store(deliveries: readonly NewDelivery[]): Promise<readonly StoreResult[]>;
  /** Resolves when the database takes a write at present; rejects with the reason when it does not. */
  checkWritable(): Promise<void>;
  close(): Promise<void>;
}

export interface CommitThreadOptions {
  /** An inbox.db that has been migrated. */
  readonly file: string;
  readonly busyTimeoutMs: number;
  readonly now: () => number;
  /** The thread ended by itself; nothing can be stored any more. */
  readonly failed: (error: Error) => void;
  readonly entry?: URL;
}

export interface CommitThreadData {
  readonly file: string;
  readonly busyTimeoutMs: number;
}

export type CommitRequest =
  | { readonly kind: 'store'; readonly deliveries: readonly NewDelivery[]; readonly now: number }
  | { readonly kind: 'check' }
  | { readonly kind: 'close' };

interface Pending {
  readonly resolve: (results: readonly StoreResult[]) => void;
  readonly reject: (error: Error) => void;
}

/** Beside this file once it is built. */
const ENTRY = new URL('./commit-worker.js', import.meta.url);

/**
 * The database in a thread of its own: a flush to disk, or a wait for a lock, never stops the receiver from reading and
 * answering. Requests are answered in their order.
 */
export async function startCommitThread(options: CommitThreadOptions): Promise<CommitThread> {
  const { file, busyTimeoutMs, now, failed, entry = ENTRY } = options;
  const workerData: CommitThreadData = { file, busyTimeoutMs };
  const worker = new Worker(entry, { workerData, env: {} });
  await once(worker, 'message');
  const exited = new Promise<void>(resolve => {
    worker.once('exit', () => resolve());
  });

  const pending: Pending[] = [];
  let closing = false;
  worker.on('message', (results: readonly StoreResult[]) => pending.shift()?.resolve(results));
  worker.on('error', end);
  worker.on('exit', code => end(new Error(`the thread that stores deliveries ended with ${code}`)));

  function end(error: Error): void {
    for (const { reject } of pending.splice(0)) reject(error);
    if (closing) return;
    closing = true;
    failed(error);
  }

  function ask(request: CommitRequest): Promise<readonly StoreResult[]> {
    if (closing) return Promise.reject(new Error('the thread that stores deliveries has ended'));
    return new Promise((resolve, reject) => {
      pending.push({ resolve, reject });
      worker.postMessage(request, []);
    });
  }

  return {
    store: deliveries => ask({ kind: 'store', deliveries, now: now() }),
    checkWritable: async () => {
      const [result] = await ask({ kind: 'check' });
      if (result !== undefined && 'failure' in result) throw new Error(result.failure.message);
    },
    close: async () => {
      if (!closing) {
        const answered = ask({ kind: 'close' });
        closing = true;
        await answered;
      }
      await exited;
    },
  };
}
