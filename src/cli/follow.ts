/** Follows rows that only grow: deliveries and changes. */

export interface FollowOptions<T> {
  /** Reads the next rows. Returns an empty list if there are no new ones. */
  readonly readNext: () => Promise<readonly T[]>;
  /** Stops following. */
  readonly signal: AbortSignal;
  readonly intervalMs?: number;
}

const POLL_INTERVAL_MS = 500;

/** Polls `readNext` and yields each row that it returns, until the signal is aborted. Waits after an empty result. */
export async function* followRows<T>({
  readNext,
  signal,
  intervalMs = POLL_INTERVAL_MS,
}: FollowOptions<T>): AsyncGenerator<T> {
  while (!signal.aborted) {
    const rows = await readNext();
    yield* rows;
    if (rows.length === 0) await waitOrAbort(intervalMs, signal);
  }
}

/** Waits for this many milliseconds, or until the signal is aborted. */
async function waitOrAbort(ms: number, signal: AbortSignal): Promise<void> {
  await new Promise<void>(resolve => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
