import { setImmediate as otherWork } from 'node:timers/promises';
import { Cron } from 'croner';
import { installationJob } from '../../inbox/job.js';
import type { InboxPort } from '../../inbox/port.js';
import type { SyncContext } from '../context.js';
import { describeFailure } from '../outcome.js';
import { offsetInInterval } from '../plan.js';
import type { RunningJob, Log } from '../worker/worker.js';
import { discover, discoverJob } from './discover.js';

export interface ScheduleOptions {
  /** A cron expression, read in UTC. */
  readonly pattern: string;
  readonly inbox: Pick<InboxPort, 'enqueueOnce'>;
  readonly now: () => number;
  readonly log: Log;
}

/** setTimeout takes no more than 24 days, and a clock that is set must not be slept through. */
const LONGEST_SLEEP_MS = 60_000;
const DAY_MS = 86_400_000;
const NEVER_MS = DAY_MS;
/** The same times as with `timezone: 'UTC'`, fifty times as fast. */
const UTC = { paused: true, utcOffset: 0 };
/** From one 29 February to the next it may be eight years. */
const LONGEST_GAP_MS = 9 * 366 * DAY_MS;

/**
 * Each time of the schedule becomes one job, however many processes count along.
 * The latest time is asked for at the start, so that nothing is lost while no process ran.
 */
export function createSchedule({ pattern, inbox, now, log }: ScheduleOptions): Again {
  return again(async () => {
    const { last, next } = timesAround(pattern, now());
    try {
      if (last !== null) await enqueueTick(inbox, last, next);
    } catch (error) {
      log.warn({ error: describeFailure(error) }, 'the tick of the schedule was not stored this time');
    }
    return Math.min(Math.max(next - now(), 1), LONGEST_SLEEP_MS);
  });
}

export function enqueueTick(
  inbox: Pick<InboxPort, 'enqueueOnce'>,
  at: number,
  next: number,
): Promise<number | null> {
  const dedupeKey = `tick:${new Date(at).toISOString()}`;
  return inbox.enqueueOnce({
    kind: 'tick',
    dedupeKey,
    trigger: 'schedule',
    payload: { intervalMs: next - at },
  });
}

export function timesAround(
  pattern: string,
  now: number,
): { readonly last: number | null; readonly next: number } {
  const cron = new Cron(pattern, UTC);
  return { last: latestTime(cron, now), next: timeAfter(cron, now) ?? now + NEVER_MS };
}

/** Croner's own look into the past throws for days that not every year has, so it is felt for from now backwards. */
function latestTime(cron: Cron, now: number): number | null {
  const isReached = (time: number | null) => time !== null && time <= now;
  let reachMs = 60_000;
  while (!isReached(timeAfter(cron, now - reachMs))) {
    if (reachMs > LONGEST_GAP_MS) return null;
    reachMs *= 16;
  }
  let before = now - reachMs;
  for (let after = now; after - before > 1000; ) {
    const middle = Math.floor((before + after) / 2);
    if (isReached(timeAfter(cron, middle))) before = middle;
    else after = middle;
  }
  return timeAfter(cron, before);
}

function timeAfter(cron: Cron, time: number): number | null {
  return cron.nextRun(new Date(time))?.getTime() ?? null;
}

/** The time between two ticks, from the next one on. */
export function intervalOf(pattern: string, now: number): number {
  const [one, other] = new Cron(pattern, UTC).nextRuns(2, new Date(now));
  return one === undefined || other === undefined ? NEVER_MS : other.getTime() - one.getTime();
}

export type Again = ReturnType<typeof again>;

/** Does it at once, and then again after as many milliseconds as it answers. */
export function again(work: () => Promise<number>) {
  let timer: NodeJS.Timeout | undefined;
  let underWay = Promise.resolve();
  let started = false;

  async function once(): Promise<void> {
    const waitMs = await work();
    if (started) timer = setTimeout(begin, waitMs);
  }

  function begin(): void {
    underWay = once();
  }

  return {
    start(): void {
      started = true;
      begin();
    },
    /** After what is being done has ended. */
    async stop(): Promise<void> {
      started = false;
      clearTimeout(timer);
      await underWay;
    },
  };
}

/** A receiver waits for each write no longer than it may. */
const ENQUEUED_AT_ONCE = 100;

/**
 * Every installation that is not uninstalled is looked at again, each at its own place in the interval; suspended ones
 * cost two calls. The registry's list comes first: what it says need not be asked for again, installation by installation.
 */
export async function tick(context: SyncContext, atWork: RunningJob): Promise<string> {
  const { inbox, mirror, now, retentionDays } = context;
  const intervalMs = Number(atWork.job.payload['intervalMs']);
  await list(context, atWork);
  const installations = await mirror.listInstallations();
  const jobs = installations
    .filter(({ state }) => state !== 'uninstalled')
    .map(({ id, organizationId }) => ({
      ...installationJob(id, organizationId, 'schedule'),
      startDelayMs: offsetInInterval(organizationId ?? id, intervalMs),
    }));
  for (let from = 0; from < jobs.length; from += ENQUEUED_AT_ONCE) {
    await atWork.turn();
    await inbox.enqueue(jobs.slice(from, from + ENQUEUED_AT_ONCE));
  }
  while ((await inbox.prune(retentionDays)) !== null) await otherWork();
  if (retentionDays > 0) await mirror.pruneSyncs(now() - retentionDays * DAY_MS);
  return 'enqueued';
}

/** Where it cannot be read now, a job of its own tries again, and says why. */
async function list({ inbox, ...context }: SyncContext, atWork: RunningJob): Promise<void> {
  try {
    await discover({ inbox, ...context }, atWork);
  } catch {
    atWork.signal.throwIfAborted();
    await inbox.enqueue([discoverJob('schedule')]);
  }
}
