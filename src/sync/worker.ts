import { setTimeout as sleepFor } from 'node:timers/promises';
import PQueue from 'p-queue';
import type { ClaimedJob } from '../inbox/job.js';
import type { Inbox } from '../inbox/inbox.js';
import { decide, describe, type Failure, type StopCode, StopError } from './outcome.js';
import { createPause } from './pause.js';
import { settleFailure } from './settle.js';
import { takeSlot } from './slots.js';

type Lane = ClaimedJob['lane'];

/** One claimed job at work. */
export interface Run {
  readonly job: ClaimedJob;
  /** Aborted when the claim is lost or the process goes down. */
  readonly signal: AbortSignal;
  /** To be awaited between resources and after every page: others may go first, and an aborted run ends here. */
  readonly turn: () => Promise<void>;
}

/** Does the job and answers one word for people to read; whatever it throws goes through the table of outcomes. */
export type Perform = (run: Run) => Promise<string>;

export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface Ended {
  readonly kind: string;
  readonly outcome: string;
  readonly code: string | null;
  readonly ms: number;
}

export interface WorkerOptions {
  readonly inbox: Inbox;
  readonly perform: Perform;
  /** Jobs of the data lane at once. Certificates have places of their own and never take one of these. */
  readonly concurrency: number;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Log;
  readonly leaseMs?: number;
  /** How long a stop waits for runs to end; one that hangs in a call is given back all the same. */
  readonly graceMs?: number;
  /** Why nothing may be read now; null where it may. Meanwhile jobs stay due, and what runs is given back. */
  readonly whyPaused?: () => string | null;
  readonly lookEveryMs?: number;
  readonly onEnded?: (ended: Ended) => void;
}

export interface Worker {
  start(): void;
  /** Stops taking, ends what runs at the next page and gives it back, to be resumed at once by the next process. */
  stop(): Promise<void>;
  /** Resolves when nothing runs and nothing is due. */
  idle(): Promise<void>;
  /** Jobs at work now. */
  running(): number;
}

const LEASE_MS = 60_000;
const GRACE_MS = 5000;
const TROUBLE_WAIT_MS = 1000;
const LONGEST_SLEEP_MS = 60_000;
const LOOK_EVERY_MS = 5000;

interface Place {
  readonly lane: Lane;
  readonly queue: PQueue;
  readonly runs: Map<number, { readonly job: ClaimedJob; readonly stop: AbortController }>;
  /** Ids of the jobs that have run for long. */
  readonly long: Set<number>;
}

export function createWorker(options: WorkerOptions): Worker {
  const { inbox, now, random, log, leaseMs = LEASE_MS, graceMs = GRACE_MS } = options;
  const places = [
    place('data', options.concurrency),
    place('certificates', Math.ceil(options.concurrency / 2)),
  ];
  const waitingForIdle: (() => void)[] = [];
  const pause = createPause({
    whyPaused: options.whyPaused ?? (() => null),
    everyMs: options.lookEveryMs ?? LOOK_EVERY_MS,
    begun: reason => {
      log.warn({ reason }, 'reads and certificates pause; deliveries are still stored');
      stopAll('disk_nearly_full');
    },
    ended: () => {
      log.info({}, 'reads and certificates go on');
      pump();
    },
    failed: error => log.warn({ error: describe(error) }, 'the disk could not be looked at this time'),
  });
  let started = false;
  let unwatch: (() => void) | undefined;
  let alarm: NodeJS.Timeout | undefined;
  let renewal: NodeJS.Timeout | undefined;

  /** One instant for the whole look: what comes due while it lasts is the next change, and wakes at once. */
  function pump(): void {
    clearTimeout(alarm);
    if (!started) return;
    const at = now();
    try {
      for (const each of places) claim(each, at);
      const next = inbox.nextChangeAt(at) ?? Infinity;
      sleep(Math.min(Math.max(next - now(), 1), LONGEST_SLEEP_MS));
      tellIdle();
    } catch (error) {
      log.warn({ error: describe(error) }, 'the inbox cannot be read now');
      sleep(TROUBLE_WAIT_MS);
    }
  }

  function sleep(ms: number): void {
    alarm = setTimeout(pump, ms);
  }

  /** Free places are filled; and where only long runs are at work, one newcomer is let in beside them. */
  function claim(into: Place, at: number): void {
    if (pause.isOn()) return;
    const free = into.queue.concurrency - into.runs.size;
    const slots = into.runs.size === into.long.size ? Math.max(free, 1) : free;
    if (slots < 1 || !inbox.hasClaimable(into.lane, at)) return;
    for (const job of inbox.claimJobs({ now: at, leaseMs, slots, lanes: [into.lane] })) {
      void runJob(into, job);
    }
  }

  async function runJob(at: Place, job: ClaimedJob): Promise<void> {
    const stop = new AbortController();
    at.runs.set(job.id, { job, stop });
    const slot = await takeSlot({
      queue: at.queue,
      onLong: () => at.long.add(job.id),
      othersWait: () => {
        pump();
        return at.queue.size > 0;
      },
    });
    const startedAt = now();
    const turn = async () => {
      await slot.turn();
      stop.signal.throwIfAborted();
    };
    try {
      stop.signal.throwIfAborted();
      const word = await options.perform({ job, signal: stop.signal, turn });
      settle(job, startedAt, word, null, () => inbox.finishJob(job, word, now()));
    } catch (error) {
      const failure = describe(stop.signal.aborted ? stop.signal.reason : error);
      const outcome = decide(failure, { now: now(), attempts: job.attempts, random });
      settle(job, startedAt, outcome.act, failure, () => settleFailure(inbox, job, outcome, failure, now()));
    } finally {
      at.runs.delete(job.id);
      at.long.delete(job.id);
      pump();
      slot.leave();
    }
  }

  function settle(
    job: ClaimedJob,
    startedAt: number,
    outcome: string,
    failure: Failure | null,
    write: () => boolean,
  ) {
    const ms = now() - startedAt;
    const fields = { job: job.id, kind: job.kind, installation: job.installationId, outcome, ms };
    try {
      const held = write();
      options.onEnded?.({ kind: job.kind, outcome, code: failure?.code ?? null, ms });
      if (failure === null) log.info({ ...fields, held }, 'job done');
      else log.warn({ ...fields, held, error: failure }, 'job failed');
    } catch (error) {
      log.warn({ ...fields, error: describe(error) }, 'job not settled: it is done again after its lease');
    }
  }

  function stopAll(code: StopCode): void {
    for (const { runs } of places) for (const { stop } of runs.values()) stop.abort(new StopError(code));
  }

  function renew(): void {
    for (const { runs } of places) {
      for (const { job, stop } of runs.values()) {
        if (!stillOurs(job)) stop.abort(new StopError('claim_lost'));
      }
    }
  }

  function stillOurs(job: ClaimedJob): boolean {
    try {
      return inbox.renewClaim(job, now() + leaseMs);
    } catch (error) {
      log.warn({ job: job.id, error: describe(error) }, 'the lease was not renewed this time');
      return true;
    }
  }

  function giveBack(job: ClaimedJob): void {
    try {
      inbox.giveBackJob(job, now(), now());
    } catch (error) {
      log.warn(
        { job: job.id, error: describe(error) },
        'job not given back: it is done again after its lease',
      );
    }
  }

  function running(): number {
    return places.reduce((sum, { runs }) => sum + runs.size, 0);
  }

  function tellIdle(): void {
    if (running() > 0 || places.some(({ lane }) => inbox.hasClaimable(lane, now()))) return;
    for (const resolve of waitingForIdle.splice(0)) resolve();
  }

  return {
    start() {
      started = true;
      unwatch = inbox.watch(pump);
      renewal = setInterval(renew, leaseMs / 3);
      pause.start();
      pump();
    },
    async stop() {
      started = false;
      unwatch?.();
      clearTimeout(alarm);
      pause.stop();
      stopAll('shutdown');
      const idle = Promise.all(places.map(({ queue }) => queue.onIdle()));
      await Promise.race([idle, sleepFor(graceMs, undefined, { ref: false })]);
      clearInterval(renewal);
      for (const { runs } of places) for (const { job } of runs.values()) giveBack(job);
    },
    idle: () =>
      new Promise(resolve => {
        waitingForIdle.push(resolve);
        pump();
      }),
    running,
  };
}

function place(lane: Lane, concurrency: number): Place {
  return { lane, queue: new PQueue({ concurrency }), runs: new Map(), long: new Set() };
}
