import { fetchWithoutRedirect } from '../http/fetch.js';
import type { DeliveryAttempt, DeliveryRecord } from '../store/records.js';
import type { SandboxStore } from '../store/store.js';

interface SenderOptions {
  readonly store: SandboxStore;
  readonly prefix: string;
  readonly getSettings: () => { readonly backoffMs: number; readonly timeoutMs: number };
}

type AttemptOutcome = Pick<DeliveryAttempt, 'status' | 'error'>;

const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** The outcome of an attempt that runs, or that was interrupted by a stop. */
const UNKNOWN: AttemptOutcome = { status: null, error: null };

/**
 * Posts pending deliveries to the apps' webhook URLs: one after another for each app, so that they arrive in order.
 * Due times and retries follow the wall clock, not the sandbox's clock.
 */
export function createSender({ store, prefix, getSettings }: SenderOptions) {
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

  /** Records the outcome of the attempt that runs, and whether and when there will be another. */
  const endAttempt = defineOperation('end attempt', (id: number, outcome: AttemptOutcome) => {
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

  /** Ends the attempts that a stop interrupted. */
  const giveUp = defineOperation('give up', (ids: readonly number[]) => {
    for (const id of ids) endAttempt(id, UNKNOWN);
  });

  function listPending(): DeliveryRecord[] {
    return deliveries.listLive().filter(({ state }) => state === 'pending');
  }

  /** Posts a delivery and returns the status of the answer. Throws if there is none in time. */
  async function post({ url, body, signature }: DeliveryRecord): Promise<number> {
    const response = await fetchWithoutRedirect(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(signature !== null && { [`x-${prefix}-signature-256`]: signature }),
      },
      body,
      signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(getSettings().timeoutMs)]),
    });
    await response.body?.cancel();
    return response.status;
  }

  /** Makes one attempt to send a delivery, and records it. */
  async function attemptDelivery(due: DeliveryRecord): Promise<void> {
    beginAttempt(due.id);
    const outcome = await post(due).then(
      status => ({ status, error: null }),
      (error: unknown) => ({ status: null, error: describeError(error) }),
    );
    if (store.isOpen()) endAttempt(due.id, outcome);
  }

  /** Sends the due deliveries of one app, the earliest first, until none is due. */
  async function sendDue(appId: string): Promise<void> {
    while (!stopping.signal.aborted) {
      const at = wallClock();
      const [due] = listPending()
        .filter(delivery => delivery.appId === appId && delivery.dueAt <= at)
        .toSorted((left, right) => left.dueAt - right.dueAt || left.id - right.id);
      if (due === undefined) return;
      await attemptDelivery(due);
    }
  }

  /** Starts sending for each app with a due delivery, and sets a timer for the next one that becomes due. */
  function startDueWork(): void {
    timer = undefined;
    if (stopping.signal.aborted) return;
    // Read the clock once: a delivery that becomes due between two readings would be neither due nor waited for.
    const at = wallClock();
    const waiting = listPending();
    const due = waiting.filter(({ dueAt }) => dueAt <= at);
    const appIds = new Set(due.map(({ appId }) => appId));
    for (const appId of appIds) {
      if (workByApp.has(appId)) continue;
      const work = sendDue(appId).finally(() => {
        workByApp.delete(appId);
        wake();
      });
      workByApp.set(appId, work);
    }
    const next = Math.min(...waiting.filter(({ dueAt }) => dueAt > at).map(({ dueAt }) => dueAt));
    if (next < Infinity) timer = setTimeout(startDueWork, Math.min(LONGEST_TIMER_MS, Math.max(1, next - at)));
  }

  /** Looks for due deliveries soon: after the running operation has ended, never inside it. */
  function wake(): void {
    if (stopping.signal.aborted) return;
    clearTimeout(timer);
    timer = setTimeout(startDueWork, 0);
  }

  return {
    /** Starts sending. A delivery whose last attempt a stop interrupted may have arrived, so it is not sent again. */
    start: (): void => {
      const interrupted = listPending().filter(({ attemptsLeft }) => attemptsLeft < 1);
      if (interrupted.length > 0) giveUp(interrupted.map(({ id }) => id));
      wake();
    },
    wake,
    /** Resolves when no delivery is pending. */
    waitUntilSettled: async (): Promise<void> => {
      while (store.isOpen() && listPending().length > 0) {
        await Promise.allSettled(workByApp.values());
        await new Promise(resume => setTimeout(resume, 5));
      }
    },
    close: async (): Promise<void> => {
      stopping.abort();
      clearTimeout(timer);
      await Promise.allSettled(workByApp.values());
    },
  };
}

/** Returns the message of an error with that of its cause, because fetch says only there what failed. */
function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
