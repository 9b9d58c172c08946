import type { ClaimedJob, ClaimRequest } from '../../../inbox/job.js';
import type { InboxPort } from '../../../inbox/port.js';
import { type Sqlite, write } from '../open.js';
import { createArrivals } from './arrivals.js';
import { createClaims } from './claim.js';
import { createDoorPort } from './door.js';
import { createEnqueue } from './enqueue.js';
import { createKeeping } from './keeping.js';
import { createSettlements } from './settle.js';
import { createPulse } from './signs.js';
import { createWaiting } from './waiting.js';
import { createWake } from './wake.js';

/** On a connection of this thread: each operation is done before its promise is handed out. */
export function createInboxPort(db: Sqlite, now: () => number): InboxPort {
  const door = createDoorPort(db, now);
  const claims = createClaims(db);
  const settlements = createSettlements(db);
  const enqueue = createEnqueue(db);
  const waiting = createWaiting(db);
  const readPulse = createPulse(db);
  const { watch, asked } = createWake(db);

  /** Looked at before it is written: where nothing can be claimed nobody waits for a lock. */
  function take({ lanes, leaseMs }: ClaimRequest, at: number): ClaimedJob[] {
    const open = lanes.filter(({ lane, slots }) => slots > 0 && waiting.hasClaimable(lane, at));
    if (open.length === 0) return [];
    const until = at + leaseMs;
    return write(db, () => {
      claims.clear(at, until);
      return open.flatMap(({ lane, slots }) => claims.take({ now: at, until, lane, slots }));
    });
  }

  return {
    ...door,
    ...createArrivals(db, now),
    ...createKeeping(db, now),
    store: deliveries => {
      asked();
      return door.store(deliveries);
    },
    look: (installationId, repeated) => {
      asked();
      return door.look(installationId, repeated);
    },
    claim: async request => {
      const at = now();
      const jobs = take(request, at);
      const next = waiting.nextChangeAt(at);
      return {
        jobs,
        othersWait: request.lanes.some(({ lane, slots }) =>
          slots > 0 ? jobs.filter(job => job.lane === lane).length >= slots : waiting.hasClaimable(lane, at),
        ),
        nextChangeInMs: next === null ? null : next - at,
      };
    },
    renew: async (held, leaseMs) => {
      const until = now() + leaseMs;
      return write(db, () => held.filter(each => !claims.renew(each, until)).map(({ id }) => id));
    },
    bind: async (held, organizationId) => write(db, () => claims.bind(held, organizationId)),
    settle: async ended => {
      const at = now();
      return write(db, () => ended.map(each => settlements.settle(each, at)));
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
    retryBuried: async which => {
      asked();
      const at = now();
      return write(db, () =>
        (which === 'all' ? settlements.buried() : which).map(buried => ({
          buried,
          job: settlements.retryBuried(buried, at),
        })),
      );
    },
    raiseClaims: async above => write(db, () => claims.raise(above)),
    takeClaim: async above => write(db, () => claims.takeNumber(above)),
    watch,
    readPulse: async () => readPulse(now()),
  };
}
