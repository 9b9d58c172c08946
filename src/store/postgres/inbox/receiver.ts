import { toStoreFailure } from '../../../inbox/delivery.js';
import type { InboxPort, ReceiverPort } from '../../../inbox/port.js';
import { createHeartbeats } from '../../inbox/heartbeats.js';
import { createCountRejected } from '../../inbox/rejected.js';
import type { PoolOptions } from '../driver.js';
import { openPostgres, type Postgres } from '../open.js';
import type { InboxClock } from '../settings.js';
import { createCall, inboxDatabaseIn } from './inbox-functions.js';
import { createStore } from './deliveries.js';

/** Writes nothing, and is refused where nothing can be written. */
const WRITE = 'UPDATE inbox.processes SET seen_at = seen_at WHERE false';
const ANSWER_MS = 5000;

/** It needs no schema but the inbox, and none at all to begin: what it lacks each post is told. */
export function openReceiverPort(pool: PoolOptions, clock: InboxClock): ReceiverPort {
  return createReceiverPort(openPostgres(pool), clock);
}

/** Needs rights on the schema inbox only. */
export function createReceiverPort(
  postgres: Postgres,
  clock: InboxClock,
  database = inboxDatabaseIn(postgres, clock),
): ReceiverPort & Pick<InboxPort, 'readPulse'> {
  const { query, close } = postgres;
  return {
    ...createHeartbeats(database),
    store: createStore(query, createCall(query, clock)),
    countRejected: createCountRejected(database),
    findWriteObstacle: async () => {
      try {
        await query(WRITE, [], ANSWER_MS);
        return null;
      } catch (error) {
        return toStoreFailure(error);
      }
    },
    close,
  };
}
