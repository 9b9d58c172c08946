import { Cron } from 'croner';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createInboxPort } from '../../src/store/sqlite/inbox/inbox-port.js';
import {
  createTickSchedule,
  enqueueTick,
  computeTickInterval,
  findTickTimes,
} from '../../src/sync/schedule/tick-schedule.js';
import { computeIntervalOffset } from '../../src/sync/plan.js';
import { openTestInbox, getOnly, NOON, temporaryInbox } from '../support/inbox.js';

const QUARTER = '*/15 * * * *';
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

test('scheduled times are in UTC, and the current time counts as reached', () => {
  const at = (ms: number) => {
    const { last, next } = findTickTimes(QUARTER, NOON + ms);
    return [(last ?? 0) - NOON, next - NOON].map(time => time / MINUTE_MS);
  };
  expect(at(-1)).toEqual([-15, 0]);
  expect(at(0)).toEqual([0, 15]);
  expect(at(14 * MINUTE_MS)).toEqual([0, 15]);
  expect(computeTickInterval(QUARTER, NOON)).toBe(15 * MINUTE_MS);
});

test.each([
  '0 0 29 2 *',
  '0 0 29 2 MON#5',
  '0 0 31 * *',
  '30 4 1 1 *',
  '0 22 * * 1-5',
  '*/15 * * * *',
  '*/7 * * * * *',
])('%s has a last and a next time at any moment, with none between them', pattern => {
  const cron = new Cron(pattern, { paused: true, timezone: 'UTC' });
  for (let step = 0; step < 40; step += 1) {
    const now = NOON + step * 53.7 * DAY_MS + step * 1234;
    const { last, next } = findTickTimes(pattern, now);
    expect(last).toBeLessThanOrEqual(now);
    expect(next).toBeGreaterThan(now);
    expect(cron.nextRun(new Date(last ?? 0))?.getTime()).toBe(next);
    expect(cron.nextRun(new Date((last ?? 0) - 1))?.getTime()).toBe(last);
  }
});

test('a tick becomes one job, no matter how many workers enqueue it or how late', async () => {
  const inbox = openTestInbox();
  const { at } = inbox;
  expect(await enqueueTick(at(NOON), NOON, NOON + MINUTE_MS)).not.toBeNull();
  expect(await enqueueTick(at(NOON), NOON, NOON + MINUTE_MS)).toBeNull();
  const claimed = getOnly(await inbox.claim({ now: NOON, leaseMs: MINUTE_MS, slots: 1 }));
  expect(claimed).toMatchObject({ kind: 'tick', trigger: 'schedule', payload: { intervalMs: MINUTE_MS } });
  await inbox.finish(claimed, 'done', NOON);
  expect(await enqueueTick(at(NOON + 1), NOON, NOON + MINUTE_MS)).toBeNull();
  const next = NOON + MINUTE_MS;
  expect(await enqueueTick(at(next), next, NOON + 2 * MINUTE_MS)).not.toBeNull();
});

test('a tick that was enqueued by a clock that was ahead is enqueued again at its time', async () => {
  const inbox = openTestInbox();
  const early = await enqueueTick(inbox.at(NOON + DAY_MS), NOON, NOON + MINUTE_MS);
  const claimed = getOnly(await inbox.claim({ now: NOON + DAY_MS, leaseMs: MINUTE_MS, slots: 1 }));
  await inbox.finish(claimed, 'done', NOON + DAY_MS);
  expect(await enqueueTick(inbox.at(NOON), NOON, NOON + MINUTE_MS)).toBeGreaterThan(early ?? 0);
  expect(await enqueueTick(inbox.at(NOON), NOON, NOON + MINUTE_MS)).toBeNull();
});

test('the schedule enqueues each time once, including the last one before the start', async () => {
  const db = temporaryInbox();
  const box = openTestInbox(db);
  const inbox = createInboxPort(db, Date.now);
  const warnings: object[] = [];
  const log = { info: () => {}, warn: (fields: object) => warnings.push(fields), error: () => {} };
  vi.useFakeTimers({ now: NOON + 5 * MINUTE_MS });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const schedules = [1, 2].map(() => createTickSchedule({ pattern: QUARTER, inbox, now: Date.now, log }));
  for (const schedule of schedules) schedule.start();
  await vi.advanceTimersByTimeAsync(26 * MINUTE_MS);
  for (const schedule of schedules) await schedule.stop();
  expect((await box.jobs()).map(job => job.dedupe_key)).toEqual([
    'tick:2026-05-04T12:30:00.000Z',
    'tick:2026-05-04T12:15:00.000Z',
    'tick:2026-05-04T12:00:00.000Z',
  ]);
  expect(warnings).toEqual([]);
});

test('every organization has a fixed offset in the interval, and the offsets are spread evenly', () => {
  const offsets = Array.from({ length: 1000 }, (_, index) =>
    computeIntervalOffset(`organization ${index}`, 1000),
  );
  expect(computeIntervalOffset('organization 7', 1000)).toBe(offsets[7]);
  expect(Math.min(...offsets)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...offsets)).toBeLessThan(1000);
  const quarters = [0, 1, 2, 3].map(
    quarter => offsets.filter(offset => Math.floor(offset / 200) === quarter).length,
  );
  for (const count of quarters) expect(count).toBeGreaterThan(200);
});

test('a pattern that never matches is checked daily, and a sleep never lasts longer than a minute', async () => {
  const { last, next } = findTickTimes('0 0 30 2 *', NOON);
  expect([last, next - NOON]).toEqual([null, DAY_MS]);
  vi.useFakeTimers({ now: NOON });
  onTestFinished(() => void vi.useRealTimers());
  const enqueued: unknown[] = [];
  const enqueueOnce = async (job: unknown) => enqueued.push(job);
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const schedule = createTickSchedule({ pattern: '0 0 * * *', inbox: { enqueueOnce }, now: Date.now, log });
  schedule.start();
  await vi.advanceTimersByTimeAsync(61_000);
  expect(enqueued).toHaveLength(2);
  await schedule.stop();
});
