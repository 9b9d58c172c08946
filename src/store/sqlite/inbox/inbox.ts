import type { InboxPort } from '../../../inbox/port.js';
import { SQLITE } from '../../dialect.js';
import { createLooks } from '../../inbox/looks.js';
import { createBatch, createBinder } from '../../statement.js';
import { createWorks } from '../database.js';
import { type Sqlite, write } from '../open.js';
import { createArrivals } from './arrivals.js';
import { createClaims } from './claim.js';
import { createReceiverPort } from './receiver.js';
import { createEnqueue } from './enqueue.js';
import { createKeeping } from './keeping.js';
import { createSettlements } from './settle.js';
import { createPulse } from './heartbeats.js';
import { createWaiting } from './waiting.js';
import { createWake } from './wake.js';

/** On a connection of this thread: each operation is done before its promise is handed out. */
export function createInboxPort(db: Sqlite, now: () => number): InboxPort {
  const receiver = createReceiverPort(db, now);
  const settlements = createSettlements(db, now);
  const enqueue = createEnqueue(db);
  const waiting = createWaiting(db);
  const readPulse = createPulse(db);
  const works = createWorks(db);
  const { watch, asked } = createWake(db);

  return {
    ...receiver,
    ...createClaims(db, waiting, now),
    ...settlements,
    ...createArrivals(db, now),
    ...createKeeping(db, now),
    ...createLooks(createBatch(createBinder(SQLITE), async all => works.look(all))),
    store: deliveries => {
      asked();
      return receiver.store(deliveries);
    },
    enqueue: async jobs => {
      asked();
      const at = now();
      return write(db, () => jobs.map(job => enqueue(job, at)));
    },
    enqueueOnce: async job => {
      asked();
      const at = now();
      return write(db, () => (waiting.hasJobWithKey(job.dedupeKey, at) ? null : enqueue(job, at)));
    },
    retryFailed: which => {
      asked();
      return settlements.retryFailed(which);
    },
    tryFirst: codes => {
      asked();
      return settlements.tryFirst(codes);
    },
    watch,
    readPulse: async () => readPulse(now()),
  };
}
