import { type Sqlite, write } from '../database/open.js';
import { type Claims, createClaims } from './claim.js';
import { type AcceptDeliveries, createAcceptDeliveries } from './deliveries.js';
import { createEnqueue, type NewJob } from './enqueue.js';
import { createPrune, type Pruned } from './prune.js';
import { createReports, type Reports } from './reports.js';
import { createSettlements, type Settlements } from './settle.js';

export interface Inbox extends Claims, Settlements, Reports {
  readonly acceptDeliveries: AcceptDeliveries;
  /** Make sure that a job with this key starts after now; answers its id. */
  enqueue(job: NewJob, now: number): number;
  /** Remove one batch of what is older than the retention; null when nothing was left to remove. */
  prune(now: number, retentionDays: number): Pruned | null;
}

/** All that can be done with an open and migrated inbox.db, its statements prepared once. */
export function createInbox(db: Sqlite): Inbox {
  const enqueue = createEnqueue(db);
  return {
    ...createClaims(db),
    ...createSettlements(db),
    ...createReports(db),
    acceptDeliveries: createAcceptDeliveries(db),
    enqueue: (job, now) => write(db, () => enqueue(job, now)),
    prune: createPrune(db),
  };
}
