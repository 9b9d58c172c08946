import { describe, expect, test } from 'vitest';
import { type ClaimedJob, createInstallationJob, type NewJob } from '../../src/inbox/job.js';
import { type TestInbox, createTestInbox, getOnly, NOON } from '../support/inbox.js';
import { ENGINES } from '../support/mirror/open.js';

const ERROR = { code: 'unavailable', message: 'answered 503' };
const SECOND = 1000;

async function claimOne(box: TestInbox, now = NOON): Promise<ClaimedJob> {
  return getOnly(await box.claim({ now, leaseMs: 60 * SECOND, slots: 1 }));
}

const enqueueFromDelivery = (box: TestInbox, now: number): Promise<number> =>
  box.enqueue(createInstallationJob('a', 'acme', 'delivery'), now);

describe.each(ENGINES)('$name', ({ store }) => {
  async function openRunningJob(
    payload?: Record<string, unknown>,
  ): Promise<{ box: TestInbox; held: ClaimedJob }> {
    const box = createTestInbox(await store());
    await box.enqueue(
      { ...createInstallationJob('a', 'acme', 'schedule'), ...(payload ? { payload } : {}) },
      NOON,
    );
    return { box, held: await claimOne(box) };
  }

  describe('a job of the schedule that found nothing new', () => {
    const UNCHANGED = { act: 'unchanged' } as const;

    test('replaces the previous one of the same key and no other job', async () => {
      const box = createTestInbox(await store());
      const kept: number[] = [];
      for (const [minute, key, trigger] of [
        [0, 'a', 'delivery'],
        [10, 'b', 'schedule'],
        [20, 'a', 'schedule'],
        [30, 'a', 'schedule'],
        [40, 'a', 'schedule'],
      ] as const) {
        const now = NOON + minute * 60 * SECOND;
        await box.enqueue(createInstallationJob(key, key, trigger), now);
        const held = await claimOne(box, now);
        expect(
          await box.end(held, trigger === 'schedule' ? UNCHANGED : { act: 'done', outcome: 'read' }, now),
        ).toBe(true);
        if (minute !== 20 && minute !== 30) kept.push(held.id);
      }
      const left = await box.jobs();
      expect(left.map(({ id }) => id).toReversed()).toEqual(kept);
      expect(left[0]).toMatchObject({ state: 'done', outcome: 'unchanged' });
    });

    test('stays if another job was merged into it', async () => {
      const { box, held } = await openRunningJob();
      await box.enqueue(createInstallationJob('a', 'acme', 'schedule'), NOON + SECOND);
      await box.retry(held, NOON + 5 * SECOND, ERROR, NOON + SECOND);
      const first = await claimOne(box, NOON + 60 * SECOND);
      expect(await box.job(held.id)).toMatchObject({ outcome: 'merged', merged_into: first.id });
      await box.end(first, UNCHANGED, NOON + 60 * SECOND);
      await box.enqueue(createInstallationJob('a', 'acme', 'schedule'), NOON + 120 * SECOND);
      const second = await claimOne(box, NOON + 120 * SECOND);
      expect(await box.end(second, UNCHANGED, NOON + 120 * SECOND)).toBe(true);
      expect((await box.jobs()).map(({ id }) => id)).toEqual([second.id, first.id, held.id]);
    });

    test('is not settled by a worker that lost its claim', async () => {
      const { box, held } = await openRunningJob();
      expect(await box.end({ id: held.id, claim: held.claim - 1 }, UNCHANGED, NOON)).toBe(false);
      expect(await box.job(held.id)).toMatchObject({ state: 'running' });
    });
  });

  describe('a failed job', () => {
    test('waits for its retry time and stores its error', async () => {
      const { box, held } = await openRunningJob();
      expect(await box.retry(held, NOON + 5 * SECOND, ERROR, NOON)).toBe(true);
      expect(await box.job(held.id)).toMatchObject({
        state: 'waiting',
        attempts: 1,
        run_at: new Date(NOON + 5 * SECOND).toISOString(),
        claimed_until: null,
        error_or_pause_code: 'unavailable',
        last_error: 'answered 503',
      });
      expect(await claimOne(box, NOON + 5 * SECOND)).toMatchObject({ id: held.id, attempts: 2 });
    });

    test('does not wait for a retry time that a fast clock had set', async () => {
      const { box, held } = await openRunningJob();
      await box.retry(held, NOON + 24 * 3600 * SECOND, ERROR, NOON);
      await enqueueFromDelivery(box, NOON + SECOND);
      expect(await claimOne(box, NOON + SECOND)).toMatchObject({ id: held.id, attempts: 2 });
    });

    test('keeps its retry time when a delivery requests it, but runs at once for a person', async () => {
      const { box, held } = await openRunningJob();
      await box.retry(held, NOON + 60 * SECOND, ERROR, NOON);
      expect(await enqueueFromDelivery(box, NOON + SECOND)).toBe(held.id);
      expect(await box.job(held.id)).toMatchObject({
        run_at: new Date(NOON + 60 * SECOND).toISOString(),
        attempts: 1,
        trigger: 'delivery',
      });
      await box.enqueue(createInstallationJob('a', 'acme', 'person'), NOON + 5 * SECOND);
      expect(await box.job(held.id)).toMatchObject({
        run_at: new Date(NOON + 5 * SECOND).toISOString(),
        attempts: 1,
      });
    });

    test('fails for good at its tenth failure', async () => {
      const { box, held } = await openRunningJob();
      let current = held;
      for (let attempt = 1; attempt < 10; attempt += 1) {
        await box.retry(current, NOON, ERROR, NOON);
        current = await claimOne(box, NOON + attempt * 2 * SECOND);
      }
      expect(current.attempts).toBe(10);
      await box.retry(current, NOON + 60 * SECOND, ERROR, NOON + 60 * SECOND);
      expect(await box.job(held.id)).toMatchObject({ state: 'failed', last_error: 'answered 503' });
      expect(await box.at(0).countJobs()).toMatchObject({ failed: 1, waiting: 0 });
    });

    test('is merged into a waiting job of the same key, which takes over its attempts and its retry time', async () => {
      const { box, held } = await openRunningJob();
      const waiting = await enqueueFromDelivery(box, NOON + 10);
      await box.retry(held, NOON + 30 * SECOND, ERROR, NOON + 20);
      expect(await box.job(held.id)).toMatchObject({
        state: 'done',
        outcome: 'merged',
        merged_into: waiting,
        last_error: 'answered 503',
      });
      expect(await box.job(waiting)).toMatchObject({
        state: 'waiting',
        attempts: 1,
        run_at: new Date(NOON + 30 * SECOND).toISOString(),
        error_or_pause_code: 'unavailable',
      });
    });

    test('never narrows the scope of the waiting job it is merged into', async () => {
      const { box, held } = await openRunningJob({ resources: { warehouse: true }, full: true });
      const waiting = await enqueueFromDelivery(box, NOON + 10);
      await box.retry(held, NOON + 30 * SECOND, ERROR, NOON + 20);
      expect(JSON.parse((await box.job(waiting)).payload)).toEqual({ full: true });
    });
  });

  describe('merging jobs', () => {
    test('a request is never merged with a running job, and its own job starts one second after that one', async () => {
      const { box, held } = await openRunningJob();
      const second = await enqueueFromDelivery(box, NOON + 10);
      expect(second).not.toBe(held.id);
      expect(await box.job(second)).toMatchObject({
        state: 'waiting',
        run_at: new Date(NOON + SECOND).toISOString(),
      });
    });

    test("a person's request replaces the trigger of a waiting job", async () => {
      const box = createTestInbox(await store());
      for (const trigger of ['schedule', 'person', 'schedule', 'worker', 'delivery'])
        await box.enqueue(createInstallationJob('1', null, trigger), NOON);
      expect(await claimOne(box)).toMatchObject({ trigger: 'person' });
      await box.enqueue(createInstallationJob('2', null, 'delivery'), NOON);
      const second = await box.enqueue(createInstallationJob('2', null, 'person'), NOON);
      expect(await box.job(second)).toMatchObject({ trigger: 'person' });
    });

    test('a delivery widens a waiting job of one resource to all resources', async () => {
      const box = createTestInbox(await store());
      const id = await box.enqueue(
        { ...createInstallationJob('a', 'acme', 'worker'), payload: { resources: { warehouse: true } } },
        NOON,
      );
      expect(await enqueueFromDelivery(box, NOON)).toBe(id);
      expect(await box.job(id)).toMatchObject({ payload: '{}', trigger: 'delivery' });
    });

    test('the resources of two narrow jobs add up', async () => {
      const box = createTestInbox(await store());
      const createNarrowJob = (name: string) => ({
        ...createInstallationJob('a', 'acme', 'worker'),
        payload: { resources: { [name]: true } },
      });
      await box.enqueue(createNarrowJob('warehouse'), NOON);
      const id = await box.enqueue(createNarrowJob('inventory'), NOON);
      expect(JSON.parse((await box.job(id)).payload)).toEqual({
        resources: { warehouse: true, inventory: true },
      });
    });

    test('a delivery brings a scheduled job forward', async () => {
      const box = createTestInbox(await store());
      const id = await box.enqueue(
        { ...createInstallationJob('a', 'acme', 'schedule'), startDelayMs: 600 * SECOND },
        NOON,
      );
      expect(await enqueueFromDelivery(box, NOON + SECOND)).toBe(id);
      expect(await claimOne(box, NOON + SECOND)).toMatchObject({ id, trigger: 'delivery' });
    });

    test('the schedule does not delay a job that a delivery requested', async () => {
      const box = createTestInbox(await store());
      const id = await enqueueFromDelivery(box, NOON);
      await box.enqueue(
        { ...createInstallationJob('a', 'acme', 'schedule'), startDelayMs: 600 * SECOND },
        NOON,
      );
      expect(await claimOne(box, NOON)).toMatchObject({ id, trigger: 'delivery' });
    });

    test('a clock that was set back delays a delivery by at most one second', async () => {
      const { box, held } = await openRunningJob();
      await box.finish(held, 'read', NOON);
      const hourAgo = NOON - 3600 * SECOND;
      const id = await enqueueFromDelivery(box, hourAgo);
      expect(await box.job(id)).toMatchObject({ run_at: new Date(hourAgo + SECOND).toISOString() });
    });
  });

  describe('a job that ends while a scheduled job waits with the same key', () => {
    const TOMORROW = NOON + 24 * 3600 * SECOND;

    /** Opens an inbox in which a delivery's job runs and the schedule has enqueued the next one for tomorrow. */
    async function openWithScheduledJob(): Promise<{ box: TestInbox; held: ClaimedJob; waiting: number }> {
      const box = createTestInbox(await store());
      await enqueueFromDelivery(box, NOON);
      const held = await claimOne(box);
      const scheduled = createInstallationJob('a', 'acme', 'schedule');
      const waiting = await box.enqueue(
        { ...scheduled, startDelayMs: TOMORROW - NOON - SECOND },
        NOON + SECOND,
      );
      return { box, held, waiting };
    }

    const getRunTime = async (box: TestInbox, id: number) => Date.parse((await box.job(id)).run_at) - NOON;

    test('runs again at once after it is released', async () => {
      const { box, held, waiting } = await openWithScheduledJob();
      await box.giveBack(held, NOON + 5 * SECOND);
      expect(await box.job(held.id)).toMatchObject({ outcome: 'merged', merged_into: waiting });
      expect(await getRunTime(box, waiting)).toBe(5 * SECOND);
    });

    test('runs again no earlier than one pace after its start when it is released', async () => {
      const { box, held, waiting } = await openWithScheduledJob();
      await box.giveBack(held, NOON + 10);
      expect(await getRunTime(box, waiting)).toBe(SECOND);
    });

    test('waits for the delay with which it is released', async () => {
      const { box, held, waiting } = await openWithScheduledJob();
      await box.end(held, { act: 'release', delayMs: 7 * SECOND, error: null }, NOON + 5 * SECOND);
      expect(await getRunTime(box, waiting)).toBe(12 * SECOND);
    });

    test('runs again after its backoff', async () => {
      const { box, held, waiting } = await openWithScheduledJob();
      await box.retry(held, NOON + 90 * SECOND, ERROR, NOON + 5 * SECOND);
      expect(await getRunTime(box, waiting)).toBe(90 * SECOND);
    });

    test('runs again at the end of its pause', async () => {
      const { box, held, waiting } = await openWithScheduledJob();
      await box.pause(held, NOON + 60 * SECOND, ERROR, NOON + 5 * SECOND);
      expect(await getRunTime(box, waiting)).toBe(60 * SECOND);
    });

    test('runs at once when a person retries it after it failed', async () => {
      const { box, held, waiting } = await openWithScheduledJob();
      await box.fail(held, ERROR, NOON + 5 * SECOND);
      expect(await box.retryFailed(held.id, NOON + 6 * SECOND)).toBe(waiting);
      expect(await getRunTime(box, waiting)).toBe(6 * SECOND);
    });

    test('is paced from now if its start lies in the future because the clock was set back', async () => {
      const { box, held, waiting } = await openWithScheduledJob();
      await box.giveBack(held, NOON - 3600 * SECOND);
      expect(await getRunTime(box, waiting)).toBe(-3599 * SECOND);
    });
  });

  test.each(['retry', 'pause'] as const)(
    'a job that ends with a %s does not delay a waiting job that a person requested',
    async act => {
      const { box, held } = await openRunningJob();
      const waiting = await box.enqueue(createInstallationJob('a', 'acme', 'person'), NOON + 10);
      await box[act](held, NOON + 90 * SECOND, ERROR, NOON + 20);
      expect(await box.job(waiting)).toMatchObject({
        trigger: 'person',
        run_at: new Date(NOON + SECOND).toISOString(),
      });
    },
  );

  describe('a certificate job of a reinstalled organization', () => {
    const createCertificateJob = (installationId: string, overrides: Partial<NewJob> = {}): NewJob => ({
      kind: 'certificates',
      dedupeKey: 'certificates:acme',
      trigger: 'worker',
      part: 'certificates',
      installationId,
      organizationId: 'acme',
      ...overrides,
    });
    const claimCertificateJob = async (box: TestInbox, now: number): Promise<ClaimedJob> =>
      getOnly(await box.claim({ now, leaseMs: 60 * SECOND, slots: 1, part: 'certificates' }));

    test.each([
      ['is due', {}],
      ['waits', { startDelayMs: 60 * SECOND }],
    ])('takes over the newer installation if it %s', async (_state, more) => {
      const box = createTestInbox(await store());
      const id = await box.enqueue(createCertificateJob('old', more), NOON);
      expect(await box.enqueue(createCertificateJob('new'), NOON + SECOND)).toBe(id);
      expect(await claimCertificateJob(box, NOON + SECOND)).toMatchObject({ id, installationId: 'new' });
    });

    test('keeps its installation if it is requested without one', async () => {
      const box = createTestInbox(await store());
      const id = await box.enqueue(createCertificateJob('old', { startDelayMs: 60 * SECOND }), NOON);
      await box.enqueue({ ...createCertificateJob('old'), installationId: null }, NOON);
      expect(await claimCertificateJob(box, NOON)).toMatchObject({ id, installationId: 'old' });
    });

    test('keeps the newer installation if a job of the old one is merged into it', async () => {
      const box = createTestInbox(await store());
      await box.enqueue(createCertificateJob('old'), NOON);
      const held = await claimCertificateJob(box, NOON);
      const waiting = await box.enqueue(createCertificateJob('new'), NOON + SECOND);
      await box.giveBack(held, NOON + 2 * SECOND);
      expect(await claimCertificateJob(box, NOON + 2 * SECOND)).toMatchObject({
        id: waiting,
        installationId: 'new',
      });
    });

    test('takes over the newer installation if a job of the new one is merged into it', async () => {
      const box = createTestInbox(await store());
      const oldest = await box.enqueue(createCertificateJob('old'), NOON);
      await box.fail(await claimCertificateJob(box, NOON), ERROR, NOON);
      await box.enqueue(createCertificateJob('new'), NOON + SECOND);
      const held = await claimCertificateJob(box, NOON + SECOND);
      expect(await box.retryFailed(oldest, NOON + 2 * SECOND)).toBe(oldest);
      await box.giveBack(held, NOON + 3 * SECOND);
      expect(await claimCertificateJob(box, NOON + 3 * SECOND)).toMatchObject({
        id: oldest,
        installationId: 'new',
      });
    });
  });

  describe('a paused job', () => {
    test('waits until it is requested again', async () => {
      const { box, held } = await openRunningJob();
      expect(await box.pause(held, NOON + 60 * SECOND, ERROR, NOON)).toBe(true);
      expect(await box.claim({ now: NOON + 59 * SECOND, leaseMs: 1, slots: 9 })).toEqual([]);
      expect(await box.at(0).countJobs()).toMatchObject({ paused: 1 });
      await enqueueFromDelivery(box, NOON + 5 * SECOND);
      expect(await claimOne(box, NOON + 5 * SECOND)).toMatchObject({ id: held.id, attempts: 1 });
    });

    test('T38 is retried by itself, and never fails because of pauses', async () => {
      const { box, held } = await openRunningJob();
      let last = held;
      for (let minute = 1; minute <= 30; minute += 1) {
        const at = NOON + minute * 60 * SECOND;
        expect(await box.pause(last, at, ERROR, at - SECOND)).toBe(true);
        const none = { parts: [{ part: 'data' as const, slots: 0 }], leaseMs: 1 };
        expect(await box.at(at - SECOND).claim(none)).toMatchObject({
          nextChangeInMs: SECOND,
          moreMayWait: false,
        });
        expect(await box.at(at).claim(none)).toMatchObject({ moreMayWait: true });
        last = await claimOne(box, at);
      }
      expect(last.id).toBe(held.id);
      await box.retry(last, NOON, ERROR, NOON);
      expect(await box.job(held.id)).toMatchObject({ state: 'waiting' });
    });

    test('keeps its run time if the schedule requests it later', async () => {
      const { box, held } = await openRunningJob();
      await box.pause(held, NOON + 60 * SECOND, ERROR, NOON);
      const job = createInstallationJob('a', 'acme', 'schedule');
      await box.enqueue({ ...job, startDelayMs: 600 * SECOND }, NOON + SECOND);
      expect(await claimOne(box, NOON + 60 * SECOND)).toMatchObject({ id: held.id });
    });

    test('is merged into a job that was requested while it ran', async () => {
      const { box, held } = await openRunningJob();
      const waiting = await enqueueFromDelivery(box, NOON + 10);
      await box.pause(held, NOON + 60 * SECOND, ERROR, NOON + 20);
      expect(await box.job(held.id)).toMatchObject({ state: 'done', merged_into: waiting });
      expect(await claimOne(box, NOON + SECOND)).toMatchObject({ id: waiting, attempts: 1 });
    });
  });

  describe('a failed job', () => {
    test('runs again when a person retries it', async () => {
      const { box, held } = await openRunningJob();
      await box.fail(held, ERROR, NOON);
      expect(await box.jobs("state = 'failed'")).toMatchObject([{ id: held.id, last_error: 'answered 503' }]);
      expect(await box.retryFailed(held.id + 1, NOON)).toBeNull();
      expect(await box.retryFailed(held.id, NOON)).toBe(held.id);
      expect(await box.retryFailed(held.id, NOON)).toBeNull();
      expect(await claimOne(box)).toMatchObject({ id: held.id, attempts: 1 });
    });

    test('is merged into a waiting job when a person retries it', async () => {
      const { box, held } = await openRunningJob();
      await box.fail(held, ERROR, NOON);
      const waiting = await enqueueFromDelivery(box, NOON + 10);
      expect(waiting).not.toBe(held.id);
      expect(await box.retryFailed(held.id, NOON)).toBe(waiting);
      expect(await box.job(held.id)).toMatchObject({ state: 'done', outcome: 'merged' });
    });

    test('is reported with its own result when several jobs are retried at once', async () => {
      const { box, held } = await openRunningJob();
      await box.fail(held, ERROR, NOON);
      const waiting = await enqueueFromDelivery(box, NOON + 10);
      expect(await box.at(NOON).retryFailed([held.id, waiting])).toEqual([
        { failed: held.id, job: waiting },
        { failed: waiting, job: null },
      ]);
    });
  });
});
