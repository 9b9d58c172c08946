/**
 * Synchronization: the jobs that read the registry and write what changed to the mirror.
 * A schedule enqueues a tick, a tick enqueues one job per installation, and the receiver enqueues a job per delivery;
 * the worker claims jobs and hands each to the handler of its kind (`JOB_HANDLERS`).
 * - plan.ts decides which resources a job reads; installation/ reads one installation; read/ reads one list.
 * - orders/ carries out what people have ordered in the console.
 * - outcome.ts maps every failure to what happens to the job; fetch-certificates.ts downloads PDF files.
 * Sync code must only write through the mirror with the claim of its job, and never await a request inside a transaction.
 */
import type { ProcessIdentity } from '../inbox/process.js';
import { getRegistryAccessAdvice, RegistryError } from '../registry/errors.js';
import { fetchCertificates } from './fetch-certificates.js';
import type { SyncContext } from './sync-context.js';
import { readInstallation } from './installation/read-installation.js';
import { runOrder } from './orders/run-order.js';
import { describeFailure } from './outcome.js';
import type { JobKind } from '../inbox/job.js';
import { isJobKind } from './plan.js';
import { discoverInstallations, createDiscoverJob } from './schedule/discover-installations.js';
import { createUnreadDeliveryTask } from './schedule/unread-deliveries.js';
import { computeTickInterval, createTickSchedule, runTick } from './schedule/tick-schedule.js';
import type { JobHandler, RunningJob } from './worker/execute-job.js';
import { createWorker, type Worker, type WorkerOptions } from './worker/worker.js';

/** Does a job of one kind and returns its outcome, a word for people to read. */
type SyncJobHandler = (context: SyncContext, running: RunningJob) => Promise<string>;

const JOB_HANDLERS: Readonly<Record<JobKind, SyncJobHandler>> = {
  installation: readInstallation,
  retry: readInstallation,
  reservations: readInstallation,
  certificates: fetchCertificates,
  discover: discoverInstallations,
  tick: runTick,
  order: runOrder,
};

/** Creates the handler for jobs of all kinds. The handler throws `bad_request` for an unknown kind. */
export function createJobHandler(context: SyncContext): JobHandler {
  return running => {
    const { kind } = running.job;
    if (isJobKind(kind)) return JOB_HANDLERS[kind](context, running);
    throw new RegistryError('bad_request', `this version does not know jobs of the kind "${kind}"`);
  };
}

const FIRST_CALL_TIMEOUT_MS = 10_000;

/** Settings of the sync service. */
export interface SyncServiceOptions extends Omit<WorkerOptions, 'inbox' | 'handleJob' | 'now' | 'random'> {
  /** A cron expression, read in UTC. Null runs only the jobs that are already waiting. */
  readonly schedule: string | null;
  /** The process that sends heartbeats. Without a schedule none are sent, because such a worker does not keep the mirror fresh. */
  readonly self: ProcessIdentity;
}

/** The worker with its schedule and the task that records unread deliveries. */
export interface SyncService extends Omit<Worker, 'start'> {
  /** Starts everything. Rejects with `foreign_registry` if the mirror was filled from another registry or app. */
  start(): Promise<void>;
}

/** Creates the service that `carbon-mirror work` runs, with the worker and the schedule. */
export function createSyncService(context: SyncContext, options: SyncServiceOptions): SyncService {
  const { inbox, mirror, client, appId, now, random } = context;
  const { schedule: pattern, log } = options;
  const worker = createWorker({ ...options, inbox, now, random, handleJob: createJobHandler(context) });
  const stopController = new AbortController();
  const schedule = pattern === null ? null : createTickSchedule({ pattern, inbox, now, log });
  const unreadDeliveryTask =
    pattern === null ? null : createUnreadDeliveryTask({ ...context, self: options.self, log });

  /**
   * Calls the registry once at the start. If the call fails, for example because of a wrong key, logs an error and enqueues
   * a retry.
   */
  async function checkRegistryAccess(): Promise<void> {
    const signal = AbortSignal.any([stopController.signal, AbortSignal.timeout(FIRST_CALL_TIMEOUT_MS)]);
    try {
      await client.app.createAppToken({ signal });
    } catch (error) {
      if (stopController.signal.aborted) return;
      const failure = describeFailure(error);
      const message = `no access to the registry: ${getRegistryAccessAdvice(failure.code)}`;
      log.error({ registry: client.http.baseUrl, error: failure }, message);
      // People see the failed job and can correct the key or address while the process continues.
      await inbox.enqueue([createDiscoverJob('worker')]).catch((enqueueError: unknown) => {
        log.warn({ error: describeFailure(enqueueError) }, 'retry of the first call could not be enqueued');
      });
    }
  }

  return {
    ...worker,
    /** Starts the worker and the schedule. Throws if the mirror belongs to another registry or app. */
    async start() {
      const scheduleSeconds =
        pattern === null ? {} : { scheduleSeconds: Math.round(computeTickInterval(pattern, now()) / 1000) };
      await mirror.checkOrigin({ baseUrl: client.http.baseUrl, appId, ...scheduleSeconds });
      // An inbox restored from a backup must not hand out claims that the mirror has already seen.
      await inbox.raiseClaims((await mirror.readMirrorState()).highestClaim);
      worker.start();
      schedule?.start();
      if (schedule !== null) void checkRegistryAccess();
      unreadDeliveryTask?.start();
    },
    /** Stops the sync service: first the schedule, then the heartbeats, and the worker last. */
    async stop() {
      // The schedule must not enqueue jobs while the worker stops.
      stopController.abort();
      await schedule?.stop();
      await unreadDeliveryTask?.stop();
      await worker.stop();
    },
  };
}
