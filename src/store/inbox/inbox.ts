import type { InboxPort } from '../../inbox/port.js';
import { createClaims } from './claims.js';
import type { InboxDatabase } from './database.js';
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

/** An inbox on what does its statements, and what an engine does in its own way. `asked`: there is work, which this process need not be told. */
export function createInboxStore(database: InboxDatabase, own: Own, asked: () => void): InboxPort {
  function andWake<Given, Answer>(ask: (given: Given) => Promise<Answer>): (given: Given) => Promise<Answer> {
    return async given => {
      const answer = await ask(given);
      asked();
      return answer;
    };
  }

  const { settle, retryFailed, prioritizeFailed: tryFirst } = createSettlements(database);
  return {
    ...own,
    ...createClaims(database),
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
