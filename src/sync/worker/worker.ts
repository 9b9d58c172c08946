/**
 * The worker claims due jobs from the inbox, runs each in a slot of its part, and writes to the inbox how it ended.
 * It wakes when the inbox changes, when the next job becomes due and when a run ends.
 * - leases.ts keeps the claims of running jobs; part-pool.ts and run-slots.ts limit how many run at once.
 * - execute-job.ts turns what a handler returns or throws into the end of its job; job-end.ts writes that end,
 *   with the ends of other jobs in one transaction (settlement-batches.ts).
 * - outage-tracker.ts has failed jobs retried first after an outage of the registry.
 * - pause-monitor.ts pauses reads while the disk is nearly full.
 * The worker must never run a job without a valid claim, because another worker may be running the job.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { ClaimedJob } from '../../inbox/job.js';
import type { InboxPort } from '../../inbox/port.js';
import { coalesce } from '../../text/coalesce.js';
import { describeFailure, type StopCode } from '../outcome.js';
import { executeJob, type JobHandler, type EndedJob, releaseJobs, recordJobEnd } from './execute-job.js';
import { createLeaseKeeper } from './leases.js';
import type { WorkerLog } from './worker-log.js';
import { createOutageTracker, createPauseMonitor } from './outages.js';
import { createPartPool, type JobRun, type PartPool } from './part-pool.js';
import { batchSettlements } from './settlement-batches.js';
import { acquireSlot } from './run-slots.js';

/** Settings and dependencies of the worker. */
export interface WorkerOptions {
  readonly inbox: Pick<InboxPort, 'claim' | 'renew' | 'settle' | 'prioritizeFailed' | 'watch'>;
  readonly handleJob: JobHandler;
  /** How many jobs of the data part run at once. Certificates have half as many slots of their own. */
  readonly concurrency: number;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: WorkerLog;
  readonly leaseMs?: number;
  /** How long `stop` waits for runs to end; then the jobs of runs that hang are released anyway. */
  readonly graceMs?: number;
  /** Returns why nothing may be read now. Returns null if reads are allowed. */
  readonly findPauseReason?: () => string | null;
  readonly pauseCheckIntervalMs?: number;
  readonly onEnded?: (ended: EndedJob) => void;
}

const LEASE_MS = 60_000;
const GRACE_MS = 5000;
/** How long `stop` waits for jobs to be released; the lease of a job that was not released expires. */
const RELEASE_TIMEOUT_MS = 1000;
/** How long to wait before claiming again when the inbox could not be read. */
const CLAIM_RETRY_MS = 1000;
const MAX_SLEEP_MS = 60_000;

export type Worker = ReturnType<typeof createWorker>;

/** Creates a worker that claims and runs jobs after `start`. */
export function createWorker(options: WorkerOptions) {
  const { inbox, handleJob, concurrency, now, random, log, onEnded } = options;
  const { leaseMs = LEASE_MS, graceMs = GRACE_MS } = options;
  const pools = [
    createPartPool('data', concurrency),
    createPartPool('certificates', Math.ceil(concurrency / 2)),
  ];
  const leases = createLeaseKeeper({
    renewClaims: inbox.renew,
    leaseMs,
    onLost: jobId => pools.forEach(pool => pool.stop(jobId, 'claim_lost')),
    onRenewalFailed: error => log.warn({ error: describeFailure(error) }, 'lease renewal failed'),
  });
  const settleJob = batchSettlements(inbox.settle);
  const outages = createOutageTracker({ inbox, now, log });
  const pause = createPauseMonitor({
    findPauseReason: options.findPauseReason,
    checkIntervalMs: options.pauseCheckIntervalMs,
    log,
    onPause: () => stopAllRuns('disk_nearly_full'),
    onResume: () => void claimJobs(),
  });
  const claimJobs = coalesce(claimAndStartJobs);
  const idleWaiters: (() => void)[] = [];
  let started = false;
  let stopWatching: (() => void) | undefined;
  let wakeTimer: NodeJS.Timeout | undefined;

  /** Claims as many due jobs as there are free slots and starts them. Sets a timer for the next claim. */
  async function claimAndStartJobs(): Promise<void> {
    clearTimeout(wakeTimer);
    if (!started) return;
    // A caller that starts waiting during this claim is resolved by the next one: a job may have come before the call.
    // So are all callers if a job runs now, because a claim beside a run leaves out parts without free slots.
    const waiterCount = countRuns() === 0 ? idleWaiters.length : 0;
    const requestedAt = performance.now();
    try {
      const { jobs, moreMayWait, nextChangeInMs } = await inbox.claim({
        parts: listClaimableParts(),
        leaseMs,
      });
      if (!started) {
        await releaseJobs(jobs, { inbox, log });
        return;
      }
      for (const job of jobs) startRun(job, performance.now() - requestedAt);
      wakeAfter(Math.min(Math.max(nextChangeInMs ?? Infinity, 1), MAX_SLEEP_MS));
      if (!moreMayWait && countRuns() === 0) resolveIdleWaiters(waiterCount);
    } catch (error) {
      log.warn({ error: describeFailure(error) }, 'claiming jobs failed');
      if (started) wakeAfter(CLAIM_RETRY_MS);
    }
  }

  /**
   * Lists the parts of the work (`data` and `certificates`) for which the worker claims jobs, each with its free slots. While any
   * job runs, leaves out a part without a free slot.
   */
  function listClaimableParts() {
    const parts = pools.map(pool => ({
      part: pool.part,
      slots: pause.isPaused() ? 0 : pool.countFreeSlots(),
    }));
    // An idle worker also lists parts with 0 slots, to learn whether jobs are waiting.
    return countRuns() === 0 ? parts : parts.filter(({ slots }) => slots > 0);
  }

  /** Sets the timer for the next claim of jobs. */
  function wakeAfter(ms: number): void {
    wakeTimer = setTimeout(() => void claimJobs(), ms);
  }

  /** Starts a claimed job and the renewal of its lease. `leaseAgeMs` is how long ago the lease began. */
  function startRun(job: ClaimedJob, leaseAgeMs: number): void {
    const pool = pools.find(({ part }) => part === job.part);
    if (pool === undefined) return;
    const run = pool.add(job);
    leases.add(job, leaseAgeMs);
    void runInSlot(pool, run);
  }

  /** Waits for a free slot of the pool, runs the job, writes its result to the inbox, and releases the slot. */
  async function runInSlot(pool: PartPool, run: JobRun): Promise<void> {
    const { job, stopController } = run;
    const { signal } = stopController;
    const slot = await acquireSlot({
      queue: pool.queue,
      onLongRun: () => pool.markLong(job.id),
      areRunsWaiting: async () => {
        await claimJobs();
        return pool.queue.size > 0;
      },
    });
    const yieldTurn = async () => {
      await slot.yieldTurn();
      signal.throwIfAborted();
    };
    const startedAt = now();
    try {
      const result = await executeJob({ job, signal, yieldTurn }, { handleJob, now, random });
      await recordJobEnd(job, result, now() - startedAt, { settleJob, log, onEnded });
      await outages.recordResult(job, result);
    } finally {
      if (pool.remove(run)) leases.remove(job.id);
      await claimJobs();
      slot.release();
    }
  }

  /** Returns the number of running jobs. */
  function countRuns(): number {
    return pools.reduce((sum, pool) => sum + pool.countRuns(), 0);
  }

  /** Aborts all running jobs. */
  function stopAllRuns(code: StopCode): void {
    for (const pool of pools) pool.stopAll(code);
  }

  /** Resolves the promises of the first `count` callers of `idle`. */
  function resolveIdleWaiters(count: number): void {
    for (const resolve of idleWaiters.splice(0, count)) resolve();
  }

  return {
    /** Starts the worker: it claims jobs, renews their leases and checks whether reads must pause. */
    start(): void {
      started = true;
      stopWatching = inbox.watch(() => void claimJobs());
      leases.start();
      pause.start();
      void claimJobs();
    },
    /** Stops the worker: claims no more jobs, aborts the running jobs, and returns unfinished jobs to the inbox. */
    async stop(): Promise<void> {
      started = false;
      stopWatching?.();
      clearTimeout(wakeTimer);
      pause.stop();
      stopAllRuns('shutdown');
      const allEnded = Promise.all([claimJobs(), ...pools.map(({ queue }) => queue.onIdle())]);
      await Promise.race([allEnded, delay(graceMs, undefined, { ref: false })]);
      leases.stop();
      const hangingJobs = pools.flatMap(pool => pool.listRuns()).map(({ job }) => job);
      const released = releaseJobs(hangingJobs, { inbox, log });
      await Promise.race([released, delay(RELEASE_TIMEOUT_MS, undefined, { ref: false })]);
    },
    /** Resolves when the worker runs no job and the inbox has no job that is due. */
    idle(): Promise<void> {
      return new Promise(resolve => {
        idleWaiters.push(resolve);
        void claimJobs();
      });
    },
    countRuns,
  };
}
