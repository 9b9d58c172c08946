import { Cron } from 'croner';
import type { Inbox } from '../inbox/inbox.js';
import { describe } from './outcome.js';
import type { Log } from './worker.js';

export interface ScheduleOptions {
  /** A cron expression, read in UTC. */
  readonly pattern: string;
  readonly inbox: Inbox;
  readonly now: () => number;
  readonly log: Log;
}

export interface Schedule {
  start(): void;
  stop(): void;
}

/** setTimeout takes no more than 24 days, and a clock that is set must not be slept through. */
const LONGEST_SLEEP_MS = 60_000;
const NEVER_MS = 86_400_000;

/**
 * Each time of the schedule becomes one job, however many processes count along.
 * The latest time is asked for at the start, so that nothing is lost while no process ran.
 */
export function createSchedule({ pattern, inbox, now, log }: ScheduleOptions): Schedule {
  let timer: NodeJS.Timeout | undefined;

  function tick(): void {
    const { last, next } = timesAround(pattern, now());
    try {
      if (last !== null) enqueueTick(inbox, last, next, now());
    } catch (error) {
      log.warn({ error: describe(error) }, 'the tick of the schedule was not stored this time');
    }
    timer = setTimeout(tick, Math.min(Math.max(next - now(), 1), LONGEST_SLEEP_MS));
  }

  return {
    start: tick,
    stop: () => clearTimeout(timer),
  };
}

export function enqueueTick(inbox: Inbox, at: number, next: number, now: number): number | null {
  const dedupeKey = `tick:${new Date(at).toISOString()}`;
  return inbox.enqueueOnce(
    { kind: 'tick', dedupeKey, trigger: 'schedule', payload: { intervalMs: next - at } },
    now,
  );
}

export function timesAround(
  pattern: string,
  now: number,
): { readonly last: number | null; readonly next: number } {
  const cron = new Cron(pattern, { paused: true, timezone: 'UTC' });
  const [last] = cron.previousRuns(1, new Date(now + 1000));
  const next = cron.nextRun(new Date(now));
  return { last: last?.getTime() ?? null, next: next?.getTime() ?? now + NEVER_MS };
}

/** The time between two ticks, from the next one on. */
export function intervalOf(pattern: string, now: number): number {
  const [one, other] = new Cron(pattern, { paused: true, timezone: 'UTC' }).nextRuns(2, new Date(now));
  return one === undefined || other === undefined ? NEVER_MS : other.getTime() - one.getTime();
}
