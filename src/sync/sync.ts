import type { LivingProcess } from '../inbox/process.js';
import type { Context } from './context.js';
import { callFirst } from './schedule/first-call.js';
import { describe } from './outcome.js';
import { createFreshnessFacts } from './schedule/freshness-facts.js';
import { createPerform } from './perform.js';
import { createSchedule, intervalOf } from './schedule/schedule.js';
import { createWorker, type Worker, type WorkerOptions } from './worker/worker.js';

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

  async function callAtStart(): Promise<void> {
    await callFirst(context, log, stopped.signal).catch((error: unknown) => {
      log.warn({ error: describe(error) }, 'the first read of the registry was not stored');
    });
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
      if (schedule !== null) void callAtStart();
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
