import { describe, expect, test } from 'vitest';
import { createInstallationJob, type JobPart } from '../../src/inbox/job.js';
import { type TestInbox, createTestInbox, getOnly, NOON } from '../support/inbox.js';
import { ENGINES } from '../support/mirror/open.js';

const LEASE = { leaseMs: 60_000, slots: 4 };

async function claimOne(box: TestInbox, now: number) {
  return getOnly(await box.claim({ ...LEASE, now }));
}

/** Claims without slots: returns whether jobs of the part wait, and when that may change. */
async function checkWaiting(box: TestInbox, now: number, part: JobPart = 'data') {
  const { jobs, ...state } = await box.at(now).claim({ parts: [{ part, slots: 0 }], leaseMs: 60_000 });
  expect(jobs).toEqual([]);
  return state;
}

describe.each(ENGINES)('$name', ({ store }) => {
  describe('a claim without slots', () => {
    test('reports a due job, unless its installation is being read', async () => {
      const box = createTestInbox(await store());
      expect(await checkWaiting(box, NOON)).toMatchObject({ moreMayWait: false });
      await box.enqueue(createInstallationJob('i1', null, 'delivery'), NOON);
      expect(await checkWaiting(box, NOON)).toMatchObject({ moreMayWait: true });
      expect(await checkWaiting(box, NOON, 'certificates')).toMatchObject({ moreMayWait: false });
      await claimOne(box, NOON);
      await box.enqueue(createInstallationJob('i1', null, 'delivery'), NOON);
      expect(await checkWaiting(box, NOON + 5000)).toMatchObject({ moreMayWait: false });
      expect(await checkWaiting(box, NOON + 60_000)).toMatchObject({ moreMayWait: true });
    });

    test('reports how long until the next job is due or a lease expires', async () => {
      const box = createTestInbox(await store());
      expect(await checkWaiting(box, NOON)).toMatchObject({ nextChangeInMs: null });
      await box.enqueue(createInstallationJob('i1', null, 'delivery'), NOON);
      expect(await checkWaiting(box, NOON)).toMatchObject({ nextChangeInMs: null });
      await claimOne(box, NOON);
      expect(await checkWaiting(box, NOON)).toMatchObject({ nextChangeInMs: 60_000 });
      await box.enqueue({ ...createInstallationJob('i2', null, 'schedule'), startDelayMs: 5000 }, NOON);
      expect(await checkWaiting(box, NOON)).toMatchObject({ nextChangeInMs: 5000 });
    });
  });

  describe('a released job', () => {
    test('runs again at once, and the attempt does not count', async () => {
      const box = createTestInbox(await store());
      await box.enqueue(createInstallationJob('i1', null, 'delivery'), NOON);
      for (let restart = 0; restart < 30; restart++) {
        expect(await box.giveBack(await claimOne(box, NOON), NOON)).toBe(true);
      }
      expect(await claimOne(box, NOON)).toMatchObject({ attempts: 1 });
    });

    test('keeps the error because of which it was released', async () => {
      const box = createTestInbox(await store());
      const id = await box.enqueue(createInstallationJob('i1', null, 'delivery'), NOON);
      const error = { code: 'database_busy', message: 'the server restarts' };
      await box.end(await claimOne(box, NOON), { act: 'release', delayMs: 0, error }, NOON);
      const kept = { state: 'waiting', error_or_pause_code: error.code, last_error: error.message };
      expect(await box.job(id)).toMatchObject(kept);
      await box.giveBack(await claimOne(box, NOON), NOON);
      expect(await box.job(id)).toMatchObject(kept);
    });

    test('is merged with a waiting job, which then reads what both had to read', async () => {
      const box = createTestInbox(await store());
      const job = createInstallationJob('i1', null, 'person');
      const first = await box.enqueue({ ...job, payload: { full: true } }, NOON);
      const held = await claimOne(box, NOON);
      const second = await box.enqueue(job, NOON);
      expect(await box.giveBack(held, NOON)).toBe(true);
      expect(await box.job(first)).toMatchObject({ state: 'done', outcome: 'merged', merged_into: second });
      expect(JSON.parse((await box.job(second)).payload)).toEqual({ full: true });
    });

    test('stays with the worker that claimed it since', async () => {
      const box = createTestInbox(await store());
      await box.enqueue(createInstallationJob('i1', null, 'delivery'), NOON);
      const lost = await claimOne(box, NOON);
      await claimOne(box, NOON + 60_000);
      expect(await box.giveBack(lost, NOON + 60_000)).toBe(false);
    });
  });

  test('enqueueOnce does not enqueue a job again, even after it is done', async () => {
    const box = createTestInbox(await store());
    const tick = { kind: 'tick', dedupeKey: 'tick:2026-05-04T12:00:00.000Z', trigger: 'schedule' };
    expect(await box.at(NOON).enqueueOnce(tick)).not.toBeNull();
    expect(await box.at(NOON).enqueueOnce(tick)).toBeNull();
    await box.finish(await claimOne(box, NOON), 'done', NOON);
    expect(await box.at(NOON).enqueueOnce(tick)).toBeNull();
  });
});
