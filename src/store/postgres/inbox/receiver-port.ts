import { sql } from 'kysely';
import { toStoreFailure } from '../../../inbox/delivery.js';
import type { InboxPort, ReceiverPort } from '../../../inbox/port.js';
import { createHeartbeats } from '../../inbox/heartbeats.js';
import { createCountRejected } from '../../inbox/count-rejected.js';
import { prepared } from '../../sql/prepared.js';
import { createAutocommitBatch } from '../database.js';
import type { PoolOptions } from '../driver.js';
import { openPostgres, type Postgres } from '../open-postgres.js';
import type { InboxClock } from '../pool-settings.js';
import { createInboxDatabase } from './inbox-functions.js';
import { createStoreDeliveries } from './store-deliveries.js';

/** Changes no row, but fails if the database does not accept writes. */
const TRY_TO_WRITE = prepared(({ db }) =>
  db
    .updateTable('inbox.processes')
    .set(eb => ({ seen_at: eb.ref('seen_at') }))
    .where(sql<boolean>`false`),
);
const STATEMENT_TIMEOUT_MS = 5000;

/**
 * Opens the database for a webhook receiver, without checking the schema. If the schema is missing, each delivery fails with the
 * reason.
 */
export function openReceiverPort(pool: PoolOptions, clock: InboxClock): ReceiverPort {
  return createReceiverPort(openPostgres(pool), clock);
}

/**
 * Creates the functions with which a webhook receiver stores deliveries and reads the status of the inbox. The database role
 * needs privileges on the schema `inbox` only.
 */
export function createReceiverPort(
  postgres: Postgres,
  clock: InboxClock,
  database = createInboxDatabase(postgres, clock),
): ReceiverPort & Pick<InboxPort, 'readStatus'> {
  const { query, close } = postgres;
  return {
    ...createHeartbeats(database),
    store: createStoreDeliveries(query, clock),
    countRejected: createCountRejected(database),
    findWriteObstacle: async () => {
      try {
        await createAutocommitBatch(query, STATEMENT_TIMEOUT_MS)(TRY_TO_WRITE());
        return null;
      } catch (error) {
        return toStoreFailure(error);
      }
    },
    close,
  };
}
