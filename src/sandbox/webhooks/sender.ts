import { call } from '../http/call.js';
import type { Attempt, DeliveryRow } from '../store/rows.js';
import type { Store } from '../store/store.js';

interface SenderOptions {
  readonly store: Store;
  readonly prefix: string;
  readonly behaviour: () => { readonly backoffMs: number; readonly timeoutMs: number };
}

type Outcome = Pick<Attempt, 'status' | 'error'>;

const LONGEST_TIMER_MS = 2 ** 31 - 1;
const UNKNOWN: Outcome = { status: null, error: null };

/**
 * Posts waiting deliveries: each app's one after the other, so that they arrive in order. They wait by the wall clock:
 * moving the sandbox's clock neither hurries nor delays them.
 */
export function createSender({ store, prefix, behaviour }: SenderOptions) {
  const { tables, now, wall, verb } = store;
  const { deliveries } = tables;
  const stopping = new AbortController();
  const busy = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  const begin = verb('begin attempt', (id: number) => {
    const row = deliveries.get(id);
    if (row === undefined) return;
    const attempts = [...row.attempts, { startedAt: now(), ...UNKNOWN }];
    deliveries.put({ ...row, attempts, attemptsLeft: row.attemptsLeft - 1 });
  });

  const end = verb('end attempt', (id: number, outcome: Outcome) => {
    const row = deliveries.get(id);
    if (row === undefined) return;
    const attempts = row.attempts.map((made, index) =>
      index === row.attempts.length - 1 ? { ...made, ...outcome } : made,
    );
    const isDelivered = outcome.status !== null && outcome.status >= 200 && outcome.status < 300;
    const state = isDelivered ? 'delivered' : row.attemptsLeft < 1 ? 'failed' : 'pending';
    const dueAt = wall() + behaviour().backoffMs * 2 ** (attempts.length - 1);
    deliveries.put({ ...row, attempts, state, dueAt });
  });

  const giveUp = verb('give up', (ids: readonly number[]) => {
    for (const id of ids) end(id, UNKNOWN);
  });

  function pending(): DeliveryRow[] {
    return deliveries.live().filter(({ state }) => state === 'pending');
  }

  async function post({ url, body, signature }: DeliveryRow): Promise<number> {
    const response = await call(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(signature !== null && { [`x-${prefix}-signature-256`]: signature }),
      },
      body,
      signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(behaviour().timeoutMs)]),
    });
    await response.body?.cancel();
    return response.status;
  }

  async function attempt(due: DeliveryRow): Promise<void> {
    begin(due.id);
    const outcome = await post(due).then(
      status => ({ status, error: null }),
      (error: unknown) => ({ status: null, error: describe(error) }),
    );
    if (store.isOpen()) end(due.id, outcome);
  }

  async function drain(ofApp: string): Promise<void> {
    while (!stopping.signal.aborted) {
      const at = wall();
      const [due] = pending()
        .filter(({ appId, dueAt }) => appId === ofApp && dueAt <= at)
        .toSorted((one, other) => one.dueAt - other.dueAt || one.id - other.id);
      if (due === undefined) return;
      await attempt(due);
    }
  }

  function pump(): void {
    timer = undefined;
    if (stopping.signal.aborted) return;
    // One instant for both: what comes due between two would be neither due nor next.
    const at = wall();
    const waiting = pending();
    const due = waiting.filter(({ dueAt }) => dueAt <= at);
    for (const ofApp of new Set(due.map(({ appId }) => appId))) {
      if (busy.has(ofApp)) continue;
      const work = drain(ofApp).finally(() => {
        busy.delete(ofApp);
        wake();
      });
      busy.set(ofApp, work);
    }
    const next = Math.min(...waiting.filter(({ dueAt }) => dueAt > at).map(({ dueAt }) => dueAt));
    if (next < Infinity) timer = setTimeout(pump, Math.min(LONGEST_TIMER_MS, Math.max(1, next - at)));
  }

  /** After the verb that asked for it, never inside. */
  function wake(): void {
    if (stopping.signal.aborted) return;
    clearTimeout(timer);
    timer = setTimeout(pump, 0);
  }

  return {
    /** One that was on its way when the sandbox stopped may have arrived: it is not sent again. */
    start: (): void => {
      const lost = pending().filter(({ attemptsLeft }) => attemptsLeft < 1);
      if (lost.length > 0) giveUp(lost.map(({ id }) => id));
      wake();
    },
    wake,
    settled: async (): Promise<void> => {
      while (store.isOpen() && pending().length > 0) {
        await Promise.allSettled(busy.values());
        await new Promise(resume => setTimeout(resume, 5));
      }
    },
    close: async (): Promise<void> => {
      stopping.abort();
      clearTimeout(timer);
      await Promise.allSettled(busy.values());
    },
  };
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message;
}
