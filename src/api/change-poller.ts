/** Wakes requests that wait for changes. One shared query looks for them, so a wait holds no database reader. */
export interface ChangePollerOptions {
  /** Returns the number of the newest change. */
  readonly readLastNumber: () => Promise<number>;
  readonly onFailure: (error: unknown) => void;
  readonly intervalMs?: number;
}

interface Waiter {
  readonly after: number;
  readonly wake: () => void;
}

const POLL_INTERVAL_MS = 500;

export type ChangePoller = ReturnType<typeof createChangePoller>;

/**
 * Creates a poller for requests that wait for a change. It reads the number of the newest change periodically while any
 * request waits.
 */
export function createChangePoller({
  readLastNumber,
  onFailure,
  intervalMs = POLL_INTERVAL_MS,
}: ChangePollerOptions) {
  const waiters = new Set<Waiter>();
  let timer: NodeJS.Timeout | null = null;

  /** Wakes each request for which there is a new change. Schedules the next poll while any request still waits. */
  async function pollForChanges(): Promise<void> {
    try {
      const last = await readLastNumber();
      for (const waiter of waiters) if (last > waiter.after) waiter.wake();
    } catch (error) {
      onFailure(error);
    }
    timer = waiters.size > 0 ? setTimeout(() => void pollForChanges(), intervalMs) : null;
  }

  return {
    /** The number of requests that wait. */
    size: () => waiters.size,
    /** Resolves when there is a change with a higher number, after `timeoutMs`, or when `signal` is aborted. */
    waitForChange: async (after: number, timeoutMs: number, signal: AbortSignal): Promise<void> => {
      if (signal.aborted) return;
      await new Promise<void>(resolve => {
        const wake = (): void => {
          waiters.delete(waiter);
          clearTimeout(deadline);
          signal.removeEventListener('abort', wake);
          resolve();
        };
        const waiter = { after, wake };
        const deadline = setTimeout(wake, timeoutMs);
        signal.addEventListener('abort', wake);
        waiters.add(waiter);
        timer ??= setTimeout(() => void pollForChanges(), intervalMs);
      });
    },
    /** Wakes all waiting requests and stops polling. */
    close: (): void => {
      if (timer !== null) clearTimeout(timer);
      for (const { wake } of waiters) wake();
    },
  };
}
