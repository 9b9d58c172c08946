import type { LivingProcess } from '../inbox/process.js';
import { getAccessAdvice, RegistryError } from '../registry/errors.js';
import { fetchCertificates } from './certificates.js';
import type { Context } from './context.js';
import { readInstallation } from './installation/read-installation.js';
import { describe } from './outcome.js';
import { isJobKind, type JobKind } from './plan.js';
import { discover, discoverJob } from './schedule/discover.js';
import { createFreshnessFacts } from './schedule/freshness-facts.js';
import { createSchedule, intervalOf, tick } from './schedule/schedule.js';
import {
  createWorker,
  type JobAtWork,
  type Perform,
  type Worker,
  type WorkerOptions,
} from './worker/worker.js';

const WORK: Readonly<Record<JobKind, (context: Context, atWork: JobAtWork) => Promise<string>>> = {
  installation: readInstallation,
  retry: readInstallation,
  reservations: readInstallation,
  certificates: fetchCertificates,
  discover,
  tick,
};

export function createPerform(context: Context): Perform {
  return atWork => {
    const { kind } = atWork.job;
    if (isJobKind(kind)) return WORK[kind](context, atWork);
    throw new RegistryError('bad_request', `a job of the kind ${kind} is unknown to this version`);
  };
}

const ANSWER_WITHIN_MS = 10_000;

export interface SyncOptions extends Omit<WorkerOptions, 'inbox' | 'perform' | 'now' | 'random'> {
  /** A cron expression, read in UTC. Null where only what waits already is to be done. */
  readonly schedule: string | null;
  /** Who writes heartbeats. Only a worker with a schedule does: one without is no watcher, it passes by. */
  readonly self: LivingProcess;
}

export interface Sync extends Omit<Worker, 'start'> {
  /** Rejects with `foreign_registry` where the mirror was filled from another registry or by another app. */
  start(): Promise<void>;
}

/** The worker, its schedule and what both do: all of `carbon-mirror work` but its databases. */
export function createSync(context: Context, options: SyncOptions): Sync {
  const { inbox, mirror, client, appId, now, random } = context;
  const { schedule: pattern, log } = options;
  const worker = createWorker({ ...options, inbox, now, random, perform: createPerform(context) });
  const stopped = new AbortController();
  const schedule = pattern === null ? null : createSchedule({ pattern, inbox, now, log });
  const facts = pattern === null ? null : createFreshnessFacts({ ...context, self: options.self, log });

  /**
   * One call at the start: a wrong key or address is told at once and not at the next time of the schedule.
   * The process goes on, for both can be mended elsewhere. What could not be asked waits in the queue, where people
   * see it, and is tried again by itself.
   */
  async function callFirst(): Promise<void> {
    const signal = AbortSignal.any([stopped.signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]);
    try {
      await client.app.createAppToken({ signal });
    } catch (error) {
      if (stopped.signal.aborted) return;
      const failure = describe(error);
      const advice = `no access to the registry: ${getAccessAdvice(failure.code)}`;
      log.error({ registry: client.http.baseUrl, error: failure }, advice);
      await inbox.enqueue([discoverJob('worker')]).catch((unstored: unknown) => {
        log.warn({ error: describe(unstored) }, 'the first read of the registry was not stored');
      });
    }
  }

  return {
    ...worker,
    async start() {
      const every =
        pattern === null ? {} : { scheduleSeconds: Math.round(intervalOf(pattern, now()) / 1000) };
      await mirror.checkOrigin({ baseUrl: client.http.baseUrl, appId, ...every });
      await inbox.raiseClaims((await mirror.known()).highestClaim);
      worker.start();
      schedule?.start();
      if (schedule !== null) void callFirst();
      facts?.start();
    },
    async stop() {
      stopped.abort();
      await schedule?.stop();
      await facts?.stop();
      await worker.stop();
    },
  };
}
