import { fetchWithoutRedirect } from '../http/fetch.js';
import type { DeliveryAttempt, DeliveryRecord } from '../store/records.js';
import type { SandboxStore } from '../store/store.js';

interface DeliverySenderOptions {
  readonly store: SandboxStore;
  readonly headerPrefix: string;
  readonly getSettings: () => { readonly backoffMs: number; readonly timeoutMs: number };
}

/** The status of a response to a webhook, or the error instead of one. */
type AttemptResponse = Pick<DeliveryAttempt, 'status' | 'error'>;

const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** The outcome of an attempt that is running or was interrupted by a stop. */
const UNKNOWN: AttemptResponse = { status: null, error: null };

/** Creates the sender of pending webhooks. Each app receives one webhook at a time, in order. */
export function createDeliverySender({ store, headerPrefix, getSettings }: DeliverySenderOptions) {
  // Due times and retries follow the wall clock, not the sandbox clock.
  const { tables, now, wallClock, defineOperation } = store;
  const { deliveries } = tables;
  const stopping = new AbortController();
  const workByApp = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  const beginAttempt = defineOperation('begin attempt', (id: number) => {
    const row = deliveries.get(id);
    if (row === undefined) return;
    const attempts = [...row.attempts, { startedAt: now(), ...UNKNOWN }];
    deliveries.put({ ...row, attempts, attemptsLeft: row.attemptsLeft - 1 });
  });

  /** Records the outcome of the running attempt. Schedules the next attempt with exponential backoff. */
  const endAttempt = defineOperation('end attempt', (id: number, outcome: AttemptResponse) => {
    const row = deliveries.get(id);
    if (row === undefined) return;
    const attempts = row.attempts.map((attempt, index) =>
      index === row.attempts.length - 1 ? { ...attempt, ...outcome } : attempt,
    );
    const isDelivered = outcome.status !== null && outcome.status >= 200 && outcome.status < 300;
    const state = isDelivered ? 'delivered' : row.attemptsLeft < 1 ? 'failed' : 'pending';
    const dueAt = wallClock() + getSettings().backoffMs * 2 ** (attempts.length - 1);
    deliveries.put({ ...row, attempts, state, dueAt });
  });

  /** Ends the attempts that were interrupted when the sandbox stopped. */
  const giveUp = defineOperation('give up', (ids: readonly number[]) => {
    for (const id of ids) endAttempt(id, UNKNOWN);
  });

  /** Lists the deliveries that are waiting for an attempt or a retry. */
  function listPendingDeliveries(): DeliveryRecord[] {
    return deliveries.listLive().filter(({ state }) => state === 'pending');
  }

  /** Posts a delivery to its webhook URL and returns the response's HTTP status. Throws after the timeout. */
  async function postDelivery({ url, body, signature }: DeliveryRecord): Promise<number> {
    const response = await fetchWithoutRedirect(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(signature !== null && { [`x-${headerPrefix}-signature-256`]: signature }),
      },
      body,
      signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(getSettings().timeoutMs)]),
    });
    await response.body?.cancel();
    return response.status;
  }

  /** Posts a delivery once, and stores the attempt with its outcome. */
  async function attemptDelivery(due: DeliveryRecord): Promise<void> {
    beginAttempt(due.id);
    const outcome = await postDelivery(due).then(
      status => ({ status, error: null }),
      (error: unknown) => ({ status: null, error: describeError(error) }),
    );
    if (store.isOpen()) endAttempt(due.id, outcome);
  }

  /** Sends the due deliveries of one app in the order of their due times. Returns when no delivery is due. */
  async function sendDueDeliveries(appId: string): Promise<void> {
    while (!stopping.signal.aborted) {
      const at = wallClock();
      const [due] = listPendingDeliveries()
        .filter(delivery => delivery.appId === appId && delivery.dueAt <= at)
        .toSorted((left, right) => left.dueAt - right.dueAt || left.id - right.id);
      if (due === undefined) return;
      await attemptDelivery(due);
    }
  }

  /** Starts sending due deliveries for each app, and sets a timer for the next due time. */
  function startDueDeliveries(): void {
    timer = undefined;
    if (stopping.signal.aborted) return;
    // Read the clock once: a delivery that becomes due between two readings would be neither due nor waited for.
    const at = wallClock();
    const waiting = listPendingDeliveries();
    const due = waiting.filter(({ dueAt }) => dueAt <= at);
    const appIds = new Set(due.map(({ appId }) => appId));
    for (const appId of appIds) {
      if (workByApp.has(appId)) continue;
      const work = sendDueDeliveries(appId).finally(() => {
        workByApp.delete(appId);
        wake();
      });
      workByApp.set(appId, work);
    }
    const next = Math.min(...waiting.filter(({ dueAt }) => dueAt > at).map(({ dueAt }) => dueAt));
    if (next < Infinity)
      timer = setTimeout(startDueDeliveries, Math.min(LONGEST_TIMER_MS, Math.max(1, next - at)));
  }

  /** Makes the sender look for due deliveries as soon as the current operation has ended. */
  function wake(): void {
    if (stopping.signal.aborted) return;
    clearTimeout(timer);
    timer = setTimeout(startDueDeliveries, 0);
  }

  return {
    /**
     * Starts sending. Gives up deliveries whose last attempt was interrupted, because the app may have received the
     * delivery.
     */
    start: (): void => {
      const interrupted = listPendingDeliveries().filter(({ attemptsLeft }) => attemptsLeft < 1);
      if (interrupted.length > 0) giveUp(interrupted.map(({ id }) => id));
      wake();
    },
    wake,
    /** Resolves when no delivery is pending. */
    waitUntilSettled: async (): Promise<void> => {
      while (store.isOpen() && listPendingDeliveries().length > 0) {
        await Promise.allSettled(workByApp.values());
        await new Promise(resume => setTimeout(resume, 5));
      }
    },
    /** Cancels running attempts and stops sending. */
    close: async (): Promise<void> => {
      stopping.abort();
      clearTimeout(timer);
      await Promise.allSettled(workByApp.values());
    },
  };
}

/** Returns the message of an error, followed by the message of the error's cause. */
function describeError(error: unknown): string {
  // `fetch` puts the network error into the cause.
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
