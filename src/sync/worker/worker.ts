import { setTimeout as sleepFor } from 'node:timers/promises';
import PQueue from 'p-queue';
import { type ClaimedJob, PARTIAL_READ, type JobEnd, type Part } from '../../inbox/job.js';
import type { InboxPort } from '../../inbox/port.js';
import { createLeases } from './leases.js';
import { coalesce } from '../../text/coalesce.js';
import {
  decide,
  describeFailure,
  endOf,
  type Failure,
  type FailureCode,
  type StopCode,
  SyncError,
} from '../outcome.js';
import { takeSlot } from './slots.js';

/** One job at work. */
export interface RunningJob {
  readonly job: ClaimedJob;
  /** Aborted when the claim is lost or the process goes down. */
  readonly signal: AbortSignal;
  /** To be awaited between resources and after every page: others may go first, and an aborted run ends here. */
  readonly turn: () => Promise<void>;
}

/** Does the job and answers one word for people to read; whatever it throws goes through the table of outcomes. */
export type JobHandler = (atWork: RunningJob) => Promise<string>;

export interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface EndedJob {
  readonly kind: string;
  readonly outcome: string;
  readonly code: string | null;
  readonly ms: number;
}

export interface WorkerOptions {
  readonly inbox: Pick<InboxPort, 'claim' | 'renew' | 'settle' | 'prioritizeFailed' | 'watch'>;
  readonly perform: JobHandler;
  /** Jobs of the data part at once. Certificates have places of their own and never take one of these. */
  readonly concurrency: number;
  readonly now: () => number;
  readonly random: () => number;
  readonly log: Log;
  readonly leaseMs?: number;
  /** How long a stop waits for runs to end; one that hangs in a call is given back all the same. */
  readonly graceMs?: number;
  /** Why nothing may be read now; null where it may. */
  readonly whyPaused?: () => string | null;
  readonly lookEveryMs?: number;
  readonly onEnded?: (ended: EndedJob) => void;
}

const LEASE_MS = 60_000;
const GRACE_MS = 5000;
/** What still runs after its grace is given back within this; else its lease runs out. */
const GIVE_BACK_MS = 1000;
const TROUBLE_WAIT_MS = 1000;
const LONGEST_SLEEP_MS = 60_000;
const LOOK_EVERY_MS = 5000;
/** What passes when the registry answers again. A registry that asked to wait is not hurried. */
const PASSING: readonly FailureCode[] = ['unavailable', 'timeout', 'bad_answer', 'unauthorized'];
/** Where something ended well a moment ago the registry did not stop to answer: what fails then is of one organization. */
const SILENT_FOR_MS = 5000;

interface PartSlots {
  readonly part: Part;
  readonly queue: PQueue;
  readonly runs: Map<number, { readonly job: ClaimedJob; readonly stop: AbortController }>;
  /** Ids of the jobs that have run for long. */
  readonly long: Set<number>;
}

export type Worker = ReturnType<typeof createWorker>;

export function createWorker(options: WorkerOptions) {
  const { inbox, now, random, log, leaseMs = LEASE_MS, graceMs = GRACE_MS } = options;
  const bothParts = [
    slotsFor('data', options.concurrency),
    slotsFor('certificates', Math.ceil(options.concurrency / 2)),
  ];
  const waitingForIdle: (() => void)[] = [];
  const leases = createLeases({
    renew: inbox.renew,
    leaseMs,
    lost: id => stopOne(id, 'claim_lost'),
    failed: error => log.warn({ error: describeFailure(error) }, 'the leases were not renewed this time'),
  });
  const pump = coalesce(take);
  let started = false;
  let isPaused = false;
  /** What was before the start nobody knows. */
  let hasFailed = true;
  let passedAt = -Infinity;
  let pausing: NodeJS.Timeout | undefined;
  let unwatch: (() => void) | undefined;
  let alarm: NodeJS.Timeout | undefined;

  async function take(): Promise<void> {
    clearTimeout(alarm);
    if (!started) return;
    const asked = waitingForIdle.length;
    const at = performance.now();
    try {
      const open = bothParts.map(each => ({ part: each.part, slots: slotsOf(each) }));
      const parts = open.filter(({ slots }) => slots > 0 || running() === 0);
      const { jobs, moreMayWait: othersWait, nextChangeInMs } = await inbox.claim({ parts, leaseMs });
      if (!started) return giveBack(jobs);
      for (const job of jobs) begin(job, performance.now() - at);
      sleep(Math.min(Math.max(nextChangeInMs ?? Infinity, 1), LONGEST_SLEEP_MS));
      if (!othersWait && running() === 0) tellIdle(asked);
    } catch (error) {
      log.warn({ error: describeFailure(error) }, 'the inbox cannot be read now');
      if (started) sleep(TROUBLE_WAIT_MS);
    }
    return undefined;
  }

  function sleep(ms: number): void {
    alarm = setTimeout(() => void pump(), ms);
  }

  /** Free places are filled; and where only long runs are at work, one newcomer is let in beside them. */
  function slotsOf(at: PartSlots): number {
    if (isPaused) return 0;
    const free = at.queue.concurrency - at.runs.size;
    return at.runs.size === at.long.size ? Math.max(free, 1) : Math.max(free, 0);
  }

  function begin(job: ClaimedJob, agoMs: number): void {
    const at = bothParts.find(({ part }) => part === job.part);
    if (at === undefined) return;
    const stop = new AbortController();
    /** Our own lease ran out by a clock that was put forward. */
    at.runs.get(job.id)?.stop.abort(new SyncError('claim_lost'));
    at.runs.set(job.id, { job, stop });
    leases.take(job, agoMs);
    void runJob(at, job, stop);
  }

  async function runJob(at: PartSlots, job: ClaimedJob, stop: AbortController): Promise<void> {
    const slot = await takeSlot({
      queue: at.queue,
      onLong: () => at.long.add(job.id),
      othersWait: async () => {
        await pump();
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
      await settle(job, startedAt, word, null, { act: 'done', outcome: word });
    } catch (error) {
      const failure = describeFailure(stop.signal.aborted ? stop.signal.reason : error);
      const outcome = decide(failure, { now: now(), attempts: job.attempts, random });
      await settle(job, startedAt, outcome.act, failure, endOf(outcome, failure, now()));
    } finally {
      if (at.runs.get(job.id)?.stop === stop) {
        at.runs.delete(job.id);
        at.long.delete(job.id);
        leases.drop(job.id);
      }
      await pump();
      slot.leave();
    }
  }

  async function settle(
    job: ClaimedJob,
    startedAt: number,
    outcome: string,
    failure: Failure | null,
    end: JobEnd,
  ): Promise<void> {
    const ms = now() - startedAt;
    const fields = { job: job.id, kind: job.kind, installation: job.installationId, outcome, ms };
    try {
      const [held = false] = await inbox.settle([{ claim: job, end }]);
      options.onEnded?.({ kind: job.kind, outcome, code: failure?.code ?? null, ms });
      if (failure === null) log.info({ ...fields, held }, 'job done');
      else log.warn({ ...fields, held, error: failure }, 'job failed');
    } catch (error) {
      log.warn(
        { ...fields, error: describeFailure(error) },
        'job not settled: it is done again after its lease',
      );
    }
    if (failure !== null || outcome.startsWith(PARTIAL_READ)) {
      hasFailed ||= failure === null || PASSING.includes(failure.code);
    } else if (job.part === 'data' && job.kind !== 'tick') await noteAnswer();
  }

  /** From the first good answer after an outage on, what failed in it comes first. */
  async function noteAnswer(): Promise<void> {
    const isOver = hasFailed && now() - passedAt >= SILENT_FOR_MS;
    hasFailed = false;
    passedAt = now();
    if (!isOver) return;
    try {
      const left = await inbox.prioritizeFailed(PASSING);
      if (left > 0) log.info({ left }, 'the registry answers again: what failed comes first');
    } catch (error) {
      hasFailed = true;
      log.warn({ error: describeFailure(error) }, 'what failed was not asked for again this time');
    }
  }

  /** Meanwhile jobs stay due, and what runs is given back. */
  function pauseOrGoOn(): void {
    try {
      const reason = options.whyPaused?.() ?? null;
      if ((reason !== null) === isPaused) return;
      isPaused = reason !== null;
      if (isPaused) {
        log.warn({ reason }, 'reads and certificates pause; deliveries are still stored');
        return stopAll('disk_nearly_full');
      }
      log.info({}, 'reads and certificates go on');
      void pump();
    } catch (error) {
      log.warn({ error: describeFailure(error) }, 'the disk could not be looked at this time');
    }
  }

  function runs(): { readonly job: ClaimedJob; readonly stop: AbortController }[] {
    return bothParts.flatMap(each => [...each.runs.values()]);
  }

  function running(): number {
    return bothParts.reduce((sum, each) => sum + each.runs.size, 0);
  }

  function stopOne(id: number, code: StopCode): void {
    runs()
      .find(({ job }) => job.id === id)
      ?.stop.abort(new SyncError(code));
  }

  function stopAll(code: StopCode): void {
    for (const { stop } of runs()) stop.abort(new SyncError(code));
  }

  async function giveBack(jobs: readonly ClaimedJob[]): Promise<void> {
    if (jobs.length === 0) return;
    try {
      await inbox.settle(jobs.map(job => ({ claim: job, end: { act: 'release', delayMs: 0 } })));
    } catch (error) {
      const ids = jobs.map(({ id }) => id);
      log.warn(
        { jobs: ids, error: describeFailure(error) },
        'jobs not given back: they are done again after their lease',
      );
    }
  }

  /** Whoever asks while it is looked learns it from the look that comes after. */
  function tellIdle(asked: number): void {
    for (const resolve of waitingForIdle.splice(0, asked)) resolve();
  }

  return {
    start(): void {
      started = true;
      unwatch = inbox.watch(() => void pump());
      leases.start();
      pauseOrGoOn();
      pausing = setInterval(pauseOrGoOn, options.lookEveryMs ?? LOOK_EVERY_MS);
      void pump();
    },
    /** Stops taking, ends what runs at the next page and gives it back, to be resumed at once by the next process. */
    async stop(): Promise<void> {
      started = false;
      unwatch?.();
      clearTimeout(alarm);
      clearInterval(pausing);
      stopAll('shutdown');
      const idle = Promise.all([pump(), ...bothParts.map(({ queue }) => queue.onIdle())]);
      await Promise.race([idle, sleepFor(graceMs, undefined, { ref: false })]);
      leases.stop();
      const left = runs().map(({ job }) => job);
      await Promise.race([giveBack(left), sleepFor(GIVE_BACK_MS, undefined, { ref: false })]);
    },
    /** Resolves when nothing runs and nothing is due. */
    idle: (): Promise<void> =>
      new Promise(resolve => {
        waitingForIdle.push(resolve);
        void pump();
      }),
    /** Jobs at work now. */
    running,
  };
}

function slotsFor(part: Part, concurrency: number): PartSlots {
  return { part, queue: new PQueue({ concurrency }), runs: new Map(), long: new Set() };
}
