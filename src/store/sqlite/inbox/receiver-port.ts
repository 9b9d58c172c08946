import { join } from 'node:path';
import { toStoreFailure } from '../../../inbox/delivery.js';
import type { InboxPort, ReceiverPort } from '../../../inbox/port.js';
import { formatInstant } from '../../../resources/sql-values.js';
import type { InboxDatabase } from '../../inbox/inbox-database.js';
import { createHeartbeats } from '../../inbox/heartbeats.js';
import { createCountRejected } from '../../inbox/count-rejected.js';
import { createBatch, createStatementRunner } from '../database.js';
import { openDatabase, type Sqlite, runInTransaction } from '../open-database.js';
import { createStoreDeliveries } from './store-deliveries.js';

/** How long to wait for a lock of another process. After that, the sender of the delivery gets 503 and retries. */
const BUSY_MS = 250;
/** 16 MB, so that a page that is written often is checkpointed once. */
const CHECKPOINT_PAGES = 4000;

/** Opens a migrated inbox.db for a webhook receiver. */
export function openReceiverPort(dataDir: string, now: () => number): ReceiverPort {
  const db = openDatabase(join(dataDir, 'inbox.db'), { busyTimeoutMs: BUSY_MS });
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  return createReceiverPort(db, now);
}

/**
 * Creates the functions that read and write inbox.db on a connection of this thread. A transaction is synchronous, so nothing
 * else runs on the thread before it ends.
 */
export function createInboxDatabase(db: Sqlite, now: () => number): InboxDatabase {
  const { run } = createStatementRunner(db);
  return {
    read: createBatch(run),
    commit: createBatch(all => runInTransaction(db, () => run(all))),
    now: () => formatInstant(now()),
  };
}

/** Creates the functions with which a webhook receiver stores deliveries and reads the status of the inbox. */
export function createReceiverPort(
  db: Sqlite,
  now: () => number,
  database = createInboxDatabase(db, now),
): ReceiverPort & Pick<InboxPort, 'readStatus'> {
  const store = createStoreDeliveries(db);
  return {
    ...createHeartbeats(database),
    store: async deliveries => store(deliveries, now()),
    countRejected: createCountRejected(database),
    findWriteObstacle: async () => {
      try {
        runInTransaction(db, () => undefined);
        return null;
      } catch (error) {
        return toStoreFailure(error);
      }
    },
    close: async () => void db.close(),
  };
}
