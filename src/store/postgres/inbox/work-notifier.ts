import { sql } from 'kysely';
import { select, sqlStatement } from '../../sql/columns.js';
import { type Params, prepared } from '../../sql/prepared.js';
import type { WorkNotifier } from '../../inbox/inbox-store.js';
import { createAutocommitBatch } from '../database.js';
import type { Postgres } from '../open-postgres.js';

type Listener = Pick<Postgres, 'listen' | 'query'>;

const POLL_MS = 1000;
/** Polling slows down after ten minutes without a notification, if the connection has received one before. */
const QUIET_POLLS = 600;
/** When polling has slowed down, only every fifth poll calls the watchers. */
const SLOW_POLL_FACTOR = 5;

const NOTIFY = prepared(
  (_, { channel }: Params<{ readonly channel: string }>) =>
    sqlStatement`SELECT ${select({ notified: sql`pg_notify(${channel}, '')` })}`,
);

/**
 * Creates a notifier that calls its watchers at each poll, and sooner after a notification. Polls are needed because a pooler
 * may lose notifications.
 */
export function createWorkNotifier({ listen, query }: Listener, channel: string): WorkNotifier {
  const watchers = new Set<() => void>();
  let quietPolls = 0;
  let isNotified = false;
  const subscription = createSubscription({ listen, query }, channel, {
    onNotification,
    onLost: () => (isNotified = false),
  });
  let timer: NodeJS.Timeout | undefined;

  function callWatchers(): void {
    for (const onChange of watchers) onChange();
  }

  /** Calls the watchers, restarts the count of polls without a notification, and records that notifications arrive. */
  function onNotification(): void {
    [quietPolls, isNotified] = [0, true];
    callWatchers();
  }

  /**
   * Runs at each tick of the poll timer. Connects the subscription again if its connection was lost. Calls the watchers; while polling is
   * slowed down, calls them only at every fifth tick.
   */
  function pollForWork(): void {
    subscription.open();
    quietPolls += 1;
    if (isPollDue(quietPolls, isNotified)) callWatchers();
  }

  return {
    watch: onChange => {
      watchers.add(onChange);
      subscription.open();
      timer ??= setInterval(pollForWork, POLL_MS);
      return () => {
        watchers.delete(onChange);
        if (watchers.size > 0) return;
        clearInterval(timer);
        timer = undefined;
        subscription.close();
      };
    },
    notify: () => {
      quietPolls = 0;
      callWatchers();
    },
  };
}

/** Returns whether a poll calls the watchers. `isNotified` is true if the listening connection has received a notification. */
export function isPollDue(quietPolls: number, isNotified: boolean): boolean {
  return !isNotified || quietPolls <= QUIET_POLLS || quietPolls % SLOW_POLL_FACTOR === 0;
}

/** The callbacks of a subscription. */
interface SubscriptionEvents {
  readonly onNotification: () => void;
  readonly onLost: () => void;
}

/**
 * Creates a subscription to a channel, on a connection of its own. Its method `open` connects, also after the connection was lost.
 * Each connection first sends a notification to itself, to learn whether a pooler delivers notifications.
 */
function createSubscription(
  { listen, query }: Listener,
  channel: string,
  { onNotification, onLost }: SubscriptionEvents,
) {
  const send = createAutocommitBatch(query);
  /** The current attempt to connect. Events of earlier attempts are ignored. */
  let current: symbol | null = null;
  let end = (): void => undefined;

  /** Closes the connection of the subscription, and reports that notifications no longer arrive. */
  function closeConnection(): void {
    current = null;
    end();
    onLost();
  }

  /**
   * Connects the subscription, listens to its channel, and sends a notification to itself. Closes the connection if this fails,
   * or if `attempt` is no longer the current attempt to connect.
   */
  async function connectAndListen(attempt: symbol): Promise<void> {
    const isCurrent = (): boolean => current === attempt;
    try {
      const stop = await listen(channel, onNotification, () => isCurrent() && closeConnection());
      if (!isCurrent()) return stop();
      end = stop;
      await send(NOTIFY({ channel }));
    } catch {
      if (isCurrent()) closeConnection();
    }
    return undefined;
  }

  return {
    open: () => {
      if (current !== null) return;
      current = Symbol('subscription');
      void connectAndListen(current);
    },
    close: closeConnection,
  };
}
