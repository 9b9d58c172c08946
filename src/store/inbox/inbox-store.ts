import type { InboxPort } from '../../inbox/port.js';
import { createClaims } from './claims.js';
import type { InboxDatabase } from './inbox-database.js';
import type { JobSteps } from './job-steps.js';
import { createRetention } from './retention.js';
import { createQueries } from './inbox-queries.js';
import { createOrders } from './orders.js';
import { createSettlements } from './settle-jobs.js';
import { createTokenStore } from './tokens.js';

type EngineSteps = Pick<
  InboxPort,
  | 'store'
  | 'countRejected'
  | 'heartbeat'
  | 'readPulse'
  | 'findWriteObstacle'
  | 'close'
  | 'enqueue'
  | 'enqueueOnce'
  | 'watch'
>;

/** Creates an inbox. `wake` is called after this process has requested work. */
export function createInboxStore(
  database: InboxDatabase,
  steps: JobSteps,
  own: EngineSteps,
  wake: () => void,
): InboxPort {
  function andWake<Input, Result>(request: (input: Input) => Promise<Result>): typeof request {
    return async input => {
      const result = await request(input);
      wake();
      return result;
    };
  }

  const orders = createOrders(database);
  const { settle, retryFailed, prioritizeFailed } = createSettlements(database, steps);
  return {
    ...own,
    ...createClaims(database, steps),
    ...createRetention(database),
    ...createQueries(database),
    tokens: createTokenStore(database),
    ...orders,
    settle,
    store: andWake(own.store),
    enqueue: andWake(own.enqueue),
    enqueueOnce: andWake(own.enqueueOnce),
    placeOrder: andWake(orders.placeOrder),
    retryFailed: andWake(retryFailed),
    prioritizeFailed: andWake(prioritizeFailed),
  };
}
