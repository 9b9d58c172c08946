import { sql } from 'kysely';
import { select, sqlStatement } from '../../sql/columns.js';
import { type Params, prepared } from '../../sql/prepared.js';
import { createAutocommitBatch } from '../database.js';
import type { Postgres } from '../open-postgres.js';

type Listener = Pick<Postgres, 'listen' | 'query'>;

export interface Wake {
  /** Calls back whenever there may be work. Returns a function that stops watching. */
  readonly watch: (changed: () => void) => () => void;
  /** Calls the watchers of this process, after it has requested work. */
  readonly wake: () => void;
}

const POLL_MS = 1000;
/** After ten minutes without a notification, polling slows down if notifications arrive at all. */
const QUIET_POLLS = 600;
/** Then only every fifth poll calls back. */
const SLOW_POLL_FACTOR = 5;

const NOTIFY = prepared(
  (_, { channel }: Params<{ readonly channel: string }>) =>
    sqlStatement`SELECT ${select({ notified: sql`pg_notify(${channel}, '')` })}`,
);

/** Wakes watchers by polling. Notifications wake them sooner, but may be lost: poolers forget which clients listen. */
export function createWake({ listen, query }: Listener, channel: string): Wake {
  const watchers = new Set<() => void>();
  let quietPolls = 0;
  let isNotified = false;
  const subscription = createSubscription({ listen, query }, channel, {
    onNotification,
    onLost: () => (isNotified = false),
  });
  let timer: NodeJS.Timeout | undefined;

  function callWatchers(): void {
    for (const changed of watchers) changed();
  }

  function onNotification(): void {
    [quietPolls, isNotified] = [0, true];
    callWatchers();
  }

  function poll(): void {
    subscription.open();
    quietPolls += 1;
    if (isPollDue(quietPolls, isNotified)) callWatchers();
  }

  return {
    watch: changed => {
      watchers.add(changed);
      subscription.open();
      timer ??= setInterval(poll, POLL_MS);
      return () => {
        watchers.delete(changed);
        if (watchers.size > 0) return;
        clearInterval(timer);
        timer = undefined;
        subscription.close();
      };
    },
    wake: () => {
      quietPolls = 0;
      callWatchers();
    },
  };
}

/** Returns whether a poll calls back. `isNotified` says that the listening connection has received a notification. */
export function isPollDue(quietPolls: number, isNotified: boolean): boolean {
  return !isNotified || quietPolls <= QUIET_POLLS || quietPolls % SLOW_POLL_FACTOR === 0;
}

interface SubscriptionEvents {
  readonly onNotification: () => void;
  readonly onLost: () => void;
}

/**
 * Listens on one connection, which `open` makes anew after it was lost. It sends the first notification itself, to learn whether
 * notifications arrive.
 */
function createSubscription(
  { listen, query }: Listener,
  channel: string,
  { onNotification, onLost }: SubscriptionEvents,
) {
  const send = createAutocommitBatch(query);
  /** The current attempt. An older one that connects late, or is lost, is ignored. */
  let current: symbol | null = null;
  let end = (): void => undefined;

  function close(): void {
    current = null;
    end();
    onLost();
  }

  async function start(attempt: symbol): Promise<void> {
    const isCurrent = (): boolean => current === attempt;
    try {
      const stop = await listen(channel, onNotification, () => isCurrent() && close());
      if (!isCurrent()) return stop();
      end = stop;
      await send(NOTIFY({ channel }));
    } catch {
      if (isCurrent()) close();
    }
    return undefined;
  }

  return {
    open: () => {
      if (current !== null) return;
      current = Symbol('subscription');
      void start(current);
    },
    close,
  };
}
