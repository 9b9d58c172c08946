import type { InboxPort } from '../../inbox/port.js';
import { createClaims } from './claims.js';
import type { InboxDatabase } from './inbox-database.js';
import type { JobSteps } from './job-steps.js';
import { createRetention } from './retention.js';
import { createInboxQueries } from './inbox-queries.js';
import { createOrders } from './orders.js';
import { createSettlements } from './settle-jobs.js';
import { createTokenStore } from './tokens.js';

/** The operations that each engine implements itself. */
type EngineOperations = Pick<
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

/** Creates an inbox. Calls `notifyWatchers` after each operation that may have requested a job. */
export function createInboxStore(
  database: InboxDatabase,
  jobSteps: JobSteps,
  operations: EngineOperations,
  notifyWatchers: () => void,
): InboxPort {
  function withNotification<Input, Result>(operation: (input: Input) => Promise<Result>): typeof operation {
    return async input => {
      const result = await operation(input);
      notifyWatchers();
      return result;
    };
  }

  const orders = createOrders(database);
  const { settle, retryFailed, prioritizeFailed } = createSettlements(database, jobSteps);
  return {
    ...operations,
    ...createClaims(database, jobSteps),
    ...createRetention(database),
    ...createInboxQueries(database),
    tokens: createTokenStore(database),
    ...orders,
    settle,
    store: withNotification(operations.store),
    enqueue: withNotification(operations.enqueue),
    enqueueOnce: withNotification(operations.enqueueOnce),
    placeOrder: withNotification(orders.placeOrder),
    retryFailed: withNotification(retryFailed),
    prioritizeFailed: withNotification(prioritizeFailed),
  };
}
