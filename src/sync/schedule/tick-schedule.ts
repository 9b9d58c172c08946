import { setImmediate as waitForEventLoop } from 'node:timers/promises';
import { Cron } from 'croner';
import type { InboxPort } from '../../inbox/port.js';
import { describeFailure } from '../outcome.js';
import type { WorkerLog } from '../worker/worker-log.js';
import { createRepeatingTask, type RepeatingTask } from './repeating-task.js';
import { createInstallationJob } from '../../inbox/job.js';
import type { SyncContext } from '../sync-context.js';
import { computeIntervalOffset } from '../plan.js';
import type { RunningJob } from '../worker/execute-job.js';
import { discoverInstallations, createDiscoverJob } from './discover-installations.js';

/** The pattern of a schedule, and what it depends on. */
export interface ScheduleOptions {
  /** A cron expression, read in UTC. */
  readonly pattern: string;
  readonly inbox: Pick<InboxPort, 'enqueueOnce'>;
  readonly now: () => number;
  readonly log: WorkerLog;
}

/** Sleep in short steps: `setTimeout` takes at most 24 days, and the clock may be set during a sleep. */
const MAX_SLEEP_MS = 60_000;
const DAY_MS = 86_400_000;
/** The interval to assume for a pattern that never matches again, such as 30 February. */
const NEVER_INTERVAL_MS = DAY_MS;
/** Gives the same times as `timezone: 'UTC'`, fifty times as fast. */
const CRON_OPTIONS = { paused: true, utcOffset: 0 };
/** Between two 29 Februaries there may be eight years. */
const MAX_CRON_GAP_MS = 9 * 366 * DAY_MS;

/** Creates a task that enqueues a tick job, which starts a round of reads, at each time of a cron pattern. */
export function createTickSchedule({ pattern, inbox, now, log }: ScheduleOptions): RepeatingTask {
  return createRepeatingTask(async () => {
    const { last, next } = findTickTimes(pattern, now());
    try {
      // The latest past tick is enqueued too, in case no process ran at that time.
      // Several processes that run this task together enqueue each tick once.
      if (last !== null) await enqueueTick(inbox, last, next);
    } catch (error) {
      log.warn({ error: describeFailure(error) }, 'scheduled tick could not be enqueued');
    }
    return Math.min(Math.max(next - now(), 1), MAX_SLEEP_MS);
  });
}

/** Enqueues the tick job of a scheduled time. Returns the job id, or null if the job already exists. */
export function enqueueTick(
  inbox: Pick<InboxPort, 'enqueueOnce'>,
  tickAt: number,
  nextTickAt: number,
): Promise<number | null> {
  return inbox.enqueueOnce({
    kind: 'tick',
    dedupeKey: `tick:${new Date(tickAt).toISOString()}`,
    trigger: 'schedule',
    payload: { intervalMs: nextTickAt - tickAt },
  });
}

/** The scheduled times around an instant. */
interface TickTimes {
  /** The latest time that has been reached; null if there was none. */
  readonly last: number | null;
  readonly next: number;
}

/** Finds the last time of a cron pattern up to `now`, and the next time after `now`. */
export function findTickTimes(pattern: string, now: number): TickTimes {
  const cron = new Cron(pattern, CRON_OPTIONS);
  return { last: findLastTime(cron, now), next: findNextTime(cron, now) ?? now + NEVER_INTERVAL_MS };
}

/** Finds the last time of a cron pattern up to `now`. Returns null if there is none. */
function findLastTime(cron: Cron, now: number): number | null {
  // Croner's own backward search throws for dates such as 29 February. So search forward from ever earlier instants,
  // then by bisection.
  const isReached = (time: number | null) => time !== null && time <= now;
  let distanceMs = 60_000;
  while (!isReached(findNextTime(cron, now - distanceMs))) {
    if (distanceMs > MAX_CRON_GAP_MS) return null;
    distanceMs *= 16;
  }
  let lower = now - distanceMs;
  for (let upper = now; upper - lower > 1000; ) {
    const middle = Math.floor((lower + upper) / 2);
    if (isReached(findNextTime(cron, middle))) lower = middle;
    else upper = middle;
  }
  return findNextTime(cron, lower);
}

/** Finds the first time of a cron pattern after an instant. Returns null if there is none. */
function findNextTime(cron: Cron, after: number): number | null {
  return cron.nextRun(new Date(after))?.getTime() ?? null;
}

/** Computes the milliseconds between the next two times of a cron pattern. */
export function computeTickInterval(pattern: string, now: number): number {
  const [first, second] = new Cron(pattern, CRON_OPTIONS).nextRuns(2, new Date(now));
  if (first === undefined || second === undefined) return NEVER_INTERVAL_MS;
  return second.getTime() - first.getTime();
}

/** Jobs are enqueued in batches, because the receiver waits for each write. */
const ENQUEUE_BATCH_SIZE = 100;

/** Runs a round of the schedule: looks for new installations, enqueues a read of each installation, and deletes expired data. */
export async function runTick(context: SyncContext, running: RunningJob): Promise<string> {
  const { inbox, mirror, now, retentionDays } = context;
  const intervalMs = Number(running.job.payload['intervalMs']);
  await tryDiscoverInstallations(context, running);
  const installations = await mirror.listInstallations();
  const jobs = installations
    .filter(({ state }) => state !== 'uninstalled')
    .map(({ id, organizationId }) => ({
      ...createInstallationJob(id, organizationId, 'schedule'),
      startDelayMs: computeIntervalOffset(organizationId ?? id, intervalMs),
    }));
  for (let start = 0; start < jobs.length; start += ENQUEUE_BATCH_SIZE) {
    await running.yieldTurn();
    await inbox.enqueue(jobs.slice(start, start + ENQUEUE_BATCH_SIZE));
  }
  while ((await inbox.prune(retentionDays)) !== null) await waitForEventLoop();
  if (retentionDays > 0) await mirror.pruneSyncs(now() - retentionDays * DAY_MS);
  return 'enqueued';
}

/** Looks for new and changed installations. If the registry cannot be read, enqueues a retry job instead of throwing. */
async function tryDiscoverInstallations(context: SyncContext, running: RunningJob): Promise<void> {
  try {
    await discoverInstallations(context, running);
  } catch {
    running.signal.throwIfAborted();
    await context.inbox.enqueue([createDiscoverJob('schedule')]);
  }
}
