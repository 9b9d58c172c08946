import type { InboxPort } from '../../../inbox/port.js';
import { createLooks } from '../../inbox/looks.js';
import { databaseIn } from '../database.js';
import type { InboxClock } from '../settings.js';
import type { Postgres } from '../open.js';
import { createArrivals } from './arrivals.js';
import { CHANNEL, createEnqueue } from './ask.js';
import { createClaims } from './claim.js';
import { createReceiverPort } from './receiver.js';
import { createKeeping } from './keeping.js';
import { createPerform } from './perform.js';
import { createSettlements } from './settle.js';
import { createPulse } from './heartbeats.js';
import { createWake } from './watch.js';

/** The inbox in a PostgreSQL that has been migrated. */
export function createInboxPort(postgres: Postgres, clock: InboxClock): InboxPort {
  const { query } = postgres;
  const perform = createPerform(query, clock);
  const receiver = createReceiverPort(postgres, clock);
  const settlements = createSettlements(query, perform);
  const { enqueue, enqueueOnce } = createEnqueue(perform);
  const { watch, asked } = createWake(postgres, CHANNEL);

  /** What this process asks for it need not be told. */
  function andWake<Given, Answer>(ask: (given: Given) => Promise<Answer>): (given: Given) => Promise<Answer> {
    return async given => {
      const answer = await ask(given);
      asked();
      return answer;
    };
  }

  return {
    ...receiver,
    ...createClaims(query, perform),
    ...createArrivals(perform),
    ...createKeeping(query, perform),
    ...createLooks(databaseIn(postgres).look),
    settle: settlements.settle,
    store: andWake(receiver.store),
    enqueue: andWake(enqueue),
    enqueueOnce: andWake(enqueueOnce),
    retryFailed: andWake(settlements.retryFailed),
    tryFirst: andWake(settlements.tryFirst),
    readPulse: createPulse(perform),
    watch,
  };
}
