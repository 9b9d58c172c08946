/** Long enough for a worker to start, too. */
const WORKER_GRACE_MS = 2 * 60_000;

export interface WorkerCheckOptions {
  /** When the receiver started, in epoch ms. */
  readonly startedAt: number;
  readonly now: () => number;
  /** Returns whether any worker has ever used this inbox. */
  readonly hasSeenWorker: () => Promise<boolean>;
}

/**
 * Creates a readiness check that fails if, two minutes after `startedAt`, no worker has ever opened the inbox. It returns the
 * problem, or null if there is none.
 */
export function createWorkerCheck({
  startedAt,
  now,
  hasSeenWorker,
}: WorkerCheckOptions): () => Promise<string | null> {
  // Without a worker, the two processes probably share no disk, and nobody would read the deliveries. A worker that
  // died does not fail the check, because deliveries must still be stored.
  let wasSeen = false;
  return async () => {
    if (wasSeen || now() - startedAt < WORKER_GRACE_MS) return null;
    wasSeen = await hasSeenWorker();
    return wasSeen ? null : 'no worker has ever used this inbox: is it on the same disk?';
  };
}
