import { join } from 'node:path';
import { describeFailure } from '../../../inbox/delivery.js';
import type { ReceiverPort } from '../../../inbox/port.js';
import { openDatabase, type Sqlite, write } from '../open.js';
import { createStore } from './deliveries.js';
import { createCountRejected } from './rejected.js';
import { createPulse, createHeartbeat } from './heartbeats.js';

/** A stranger's lock is waited for no longer than this: the sender gets 503 within a second and comes back. */
const BUSY_MS = 250;
/** 16 MB: pages that are written again and again are copied back once. */
const CHECKPOINT_PAGES = 4000;

/** On an inbox.db that has been migrated. */
export function openReceiverPort(dataDir: string, now: () => number): ReceiverPort {
  const db = openDatabase(join(dataDir, 'inbox.db'), { busyTimeoutMs: BUSY_MS });
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
  return createReceiverPort(db, now);
}

/** On a connection of this thread: each operation is done before its promise is handed out. */
export function createReceiverPort(db: Sqlite, now: () => number): ReceiverPort {
  const store = createStore(db);
  const countRejected = createCountRejected(db);
  const beat = createHeartbeat(db);
  const readPulse = createPulse(db);
  return {
    store: async deliveries => store(deliveries, now()),
    countRejected: async rejected => write(db, () => countRejected(rejected, now())),
    heartbeat: async self => {
      const at = now();
      write(db, () => beat(self, at));
      return readPulse(at);
    },
    findObstacle: async () => {
      try {
        write(db, () => undefined);
        return null;
      } catch (error) {
        return describeFailure(error);
      }
    },
    close: async () => void db.close(),
  };
}
