import type { InboxPort } from '../../inbox/port.js';
import { createClaims } from './claims.js';
import type { InboxDatabase } from './database.js';
import type { JobSteps } from './job-steps.js';
import { createRetention } from './retention.js';
import { createQueries } from './queries.js';
import { createSettlements } from './settle.js';

type Own = Pick<
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

/** Creates an inbox. `asked` is called after this process has requested work. */
export function createInboxStore(
  database: InboxDatabase,
  steps: JobSteps,
  own: Own,
  asked: () => void,
): InboxPort {
  function andWake<Given, Answer>(ask: (given: Given) => Promise<Answer>): (given: Given) => Promise<Answer> {
    return async given => {
      const answer = await ask(given);
      asked();
      return answer;
    };
  }

  const { settle, retryFailed, prioritizeFailed: tryFirst } = createSettlements(database, steps);
  return {
    ...own,
    ...createClaims(database, steps),
    ...createRetention(database),
    ...createQueries(database),
    settle,
    store: andWake(own.store),
    enqueue: andWake(own.enqueue),
    enqueueOnce: andWake(own.enqueueOnce),
    retryFailed: andWake(retryFailed),
    prioritizeFailed: andWake(tryFirst),
  };
}
