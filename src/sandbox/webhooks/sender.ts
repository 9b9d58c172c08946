import { call } from '../http/call.js';
import { toInstant } from '../store/clock.js';
import type { Store } from '../store/store.js';

/** Posts waiting deliveries: each app's one after the other, so that they arrive in order. */
export interface Sender {
  readonly wake: () => void;
  readonly settled: () => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface SenderOptions {
  readonly store: Store;
  readonly prefix: string;
  readonly wall: () => number;
  readonly behaviour: () => { readonly backoffMs: number; readonly timeoutMs: number };
}

interface DueDelivery {
  id: number;
  app_id: string;
  url: string;
  body: string;
  signature: string | null;
  attempts_left: number;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

export function createSender({ store, prefix, wall, behaviour }: SenderOptions): Sender {
  const { db, now } = store;
  const stopping = new AbortController();
  const busy = new Map<string, Promise<void>>();
  let timer: NodeJS.Timeout | undefined;

  const dueApps = db
    .prepare<[string], string>(
      `select distinct app_id from deliveries where state = 'pending' and due_at <= ?`,
    )
    .pluck();
  const nextDue = db
    .prepare<[string], string | null>(
      `select min(due_at) from deliveries where state = 'pending' and due_at > ?`,
    )
    .pluck();
  const isWaiting = db.prepare<[]>(`select 1 from deliveries where state = 'pending' limit 1`);
  const first = db.prepare<[string, string], DueDelivery>(
    `select id, app_id, url, body, signature, attempts_left from deliveries
     where state = 'pending' and due_at <= ? and app_id = ? order by due_at, id limit 1`,
  );
  const begin = db.prepare<[string, number]>(
    `insert into delivery_attempts (delivery_id, attempt, started_at)
     select d.id, (select count(*) + 1 from delivery_attempts where delivery_id = d.id), ? from deliveries d where d.id = ?`,
  );
  const spend = db.prepare<[number]>('update deliveries set attempts_left = attempts_left - 1 where id = ?');
  const note = db.prepare<[number | null, string | null, number, number]>(
    `update delivery_attempts set status = ?, error = ? where delivery_id = ?
       and attempt = (select max(attempt) from delivery_attempts where delivery_id = ?)`,
  );
  const setState = db.prepare<[string, string, number]>(
    'update deliveries set state = ?, due_at = ? where id = ?',
  );
  const countAttempts = db
    .prepare<[number], number>('select count(*) from delivery_attempts where delivery_id = ?')
    .pluck();

  /** One that was on its way when the sandbox stopped may have arrived: it is not sent again. */
  db.exec(`update deliveries set state = 'failed' where state = 'pending' and attempts_left = 0`);

  async function post({ url, body, signature }: DueDelivery): Promise<number> {
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

  async function attempt(due: DueDelivery): Promise<void> {
    const { id } = due;
    store.write(() => {
      begin.run(now(), id);
      spend.run(id);
    });
    const outcome = await post(due).then(
      status => ({ status, error: null }),
      (error: unknown) => ({ status: null, error: describe(error) }),
    );
    if (!db.open) return;
    store.write(() => {
      note.run(outcome.status, outcome.error, id, id);
      const isDelivered = outcome.status !== null && outcome.status >= 200 && outcome.status < 300;
      if (isDelivered) setState.run('delivered', toInstant(wall()), id);
      else if (due.attempts_left <= 1) setState.run('failed', toInstant(wall()), id);
      else setState.run('pending', toInstant(wall() + waitBeforeNext(id)), id);
    });
  }

  function waitBeforeNext(id: number): number {
    return behaviour().backoffMs * 2 ** ((countAttempts.get(id) ?? 1) - 1);
  }

  async function drain(appId: string): Promise<void> {
    while (!stopping.signal.aborted) {
      const due = first.get(toInstant(wall()), appId);
      if (due === undefined) return;
      await attempt(due);
    }
  }

  function pump(): void {
    timer = undefined;
    if (stopping.signal.aborted) return;
    // One instant for both: what comes due between two would be neither due nor next.
    const at = wall();
    for (const appId of dueApps.all(toInstant(at))) {
      if (busy.has(appId)) continue;
      const work = drain(appId).finally(() => {
        busy.delete(appId);
        wake();
      });
      busy.set(appId, work);
    }
    const due = nextDue.get(toInstant(at));
    if (due != null) timer = setTimeout(pump, Math.min(LONGEST_TIMER_MS, Math.max(1, Date.parse(due) - at)));
  }

  /** After the transaction that asked for it, never inside. */
  function wake(): void {
    if (stopping.signal.aborted) return;
    clearTimeout(timer);
    timer = setTimeout(pump, 0);
  }

  wake();

  return {
    wake,
    async settled() {
      while (db.open && isWaiting.get() !== undefined) {
        await Promise.allSettled(busy.values());
        await new Promise(resume => setTimeout(resume, 5));
      }
    },
    async close() {
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
