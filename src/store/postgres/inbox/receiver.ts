import { describeFailure } from '../../../inbox/delivery.js';
import type { ReceiverPort } from '../../../inbox/port.js';
import type { InboxClock } from '../settings.js';
import type { PoolOptions } from '../driver.js';
import { openPostgres, type Postgres } from '../open.js';
import { createPerform } from './perform.js';
import { createCountRejected } from './rejected.js';
import { createHeartbeat } from './heartbeats.js';
import { createStore } from './store.js';

/** Writes nothing, and is refused where nothing can be written. */
const WRITE = 'UPDATE inbox.processes SET seen_at = seen_at WHERE false';
const ANSWER_MS = 5000;

/** It needs no schema but the inbox, and none at all to begin: what it lacks each post is told. */
export function openReceiverPort(pool: PoolOptions, clock: InboxClock): ReceiverPort {
  return createReceiverPort(openPostgres(pool), clock);
}

/** Needs rights on the schema inbox only. */
export function createReceiverPort({ query, close }: Postgres, clock: InboxClock): ReceiverPort {
  const perform = createPerform(query, clock);
  return {
    store: createStore(query, perform),
    countRejected: createCountRejected(perform),
    heartbeat: createHeartbeat(perform),
    findObstacle: async () => {
      try {
        await query(WRITE, [], ANSWER_MS);
        return null;
      } catch (error) {
        return describeFailure(error);
      }
    },
    close,
  };
}
