import type { InboxPort } from '../../inbox/port.js';
import { createClaims } from './claims.js';
import type { InboxDatabase } from './inbox-database.js';
import type { JobQueue } from './job-steps.js';
import { createRetention } from './retention.js';
import { createInboxQueries } from './inbox-queries.js';
import { createOrders } from './orders.js';
import { createSettlements } from './settle-jobs.js';
import { createTokenStore } from './tokens.js';

/** The methods of an inbox that each engine implements itself. */
type EngineMethods = Pick<
  InboxPort,
  | 'store'
  | 'countRejected'
  | 'heartbeat'
  | 'readStatus'
  | 'findWriteObstacle'
  | 'close'
  | 'enqueue'
  | 'enqueueOnce'
  | 'watch'
>;

/** Tells a process that there may be new jobs. */
export interface WorkNotifier {
  readonly watch: InboxPort['watch'];
  /** Wakes the watchers of this process. Call it after this process has requested work. */
  readonly notify: () => void;
}

/**
 * Creates the `InboxPort` from SQL that both engines share, and from `jobQueue` and `engineMethods`, which each engine implements.
 * Calls `notifyWatchers`, which wakes idle workers, after each method that may have added a due job.
 */
export function createInboxStore(
  database: InboxDatabase,
  jobQueue: JobQueue,
  engineMethods: EngineMethods,
  notifyWatchers: () => void,
): InboxPort {
  /** Wraps a method so that it wakes idle workers after it has succeeded. */
  function withNotification<Input, Result>(operation: (input: Input) => Promise<Result>): typeof operation {
    return async input => {
      const result = await operation(input);
      notifyWatchers();
      return result;
    };
  }

  const orders = createOrders(database);
  const { settle, retryFailed, prioritizeFailed } = createSettlements(database, jobQueue);
  return {
    ...engineMethods,
    ...createClaims(database, jobQueue),
    ...createRetention(database),
    ...createInboxQueries(database),
    tokens: createTokenStore(database),
    ...orders,
    settle,
    store: withNotification(engineMethods.store),
    enqueue: withNotification(engineMethods.enqueue),
    enqueueOnce: withNotification(engineMethods.enqueueOnce),
    placeOrder: withNotification(orders.placeOrder),
    retryFailed: withNotification(retryFailed),
    prioritizeFailed: withNotification(prioritizeFailed),
  };
}
