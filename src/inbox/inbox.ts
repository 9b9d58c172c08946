import { type Sqlite, write } from '../engines/sqlite/open.js';
import { type AnnouncedSlices, createAnnounced } from '../engines/sqlite/inbox/announced.js';
import { type Claims, createClaims } from '../engines/sqlite/inbox/claim.js';
import { type AcceptDeliveries, createAcceptDeliveries } from '../engines/sqlite/inbox/deliveries.js';
import { createEnqueue } from '../engines/sqlite/inbox/enqueue.js';
import type { NewJob } from './job.js';
import type { Pulse } from './process.js';
import { createPrune, type Pruned } from '../engines/sqlite/inbox/prune.js';
import { createReports, type Reports } from '../engines/sqlite/inbox/reports.js';
import { createSettlements, type Settlements } from '../engines/sqlite/inbox/settle.js';
import { createPulse, createSignOfLife, type SignOfLife } from '../engines/sqlite/inbox/signs.js';
import { createWaiting, type Waiting } from '../engines/sqlite/inbox/waiting.js';
import { createWake, type Wake } from '../engines/sqlite/inbox/wake.js';

export interface Inbox extends Claims, Settlements, Reports, Waiting, AnnouncedSlices {
  readonly acceptDeliveries: AcceptDeliveries;
  /** Make sure that a job with this key starts after now; answers its id. */
  enqueue(job: NewJob, now: number): number;
  /** The same, unless a job with this key was ever asked for: two workers never double what the schedule wants. */
  enqueueOnce(job: NewJob, now: number): number | null;
  /** Calls back soon after there may be something to do, whoever asked for it. Answers how to stop. */
  readonly watch: Wake['watch'];
  readonly signOfLife: SignOfLife;
  readPulse(now: number): Pulse;
  /** Remove one batch of what is older than the retention; null when nothing was left to remove. */
  prune(now: number, retentionDays: number): Pruned | null;
}

/** All that can be done with an open and migrated inbox.db, its statements prepared once. */
export function createInbox(db: Sqlite): Inbox {
  const enqueue = createEnqueue(db);
  const waiting = createWaiting(db);
  const settlements = createSettlements(db);
  const { watch, asking } = createWake(db);
  return {
    ...waiting,
    ...createClaims(db),
    ...settlements,
    ...createReports(db),
    ...createAnnounced(db),
    acceptDeliveries: asking(createAcceptDeliveries(db)),
    enqueue: asking((job, now) => write(db, () => enqueue(job, now))),
    enqueueOnce: asking((job, now) =>
      write(db, () => (waiting.hasJobWithKey(job.dedupeKey, now) ? null : enqueue(job, now))),
    ),
    retryBuried: asking((id, now) => settlements.retryBuried(id, now)),
    signOfLife: createSignOfLife(db),
    readPulse: createPulse(db),
    prune: createPrune(db),
    watch,
  };
}
