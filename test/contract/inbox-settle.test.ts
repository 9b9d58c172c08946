import { describe, expect, test } from 'vitest';
import { type ClaimedJob, installationJob, type NewJob } from '../../src/inbox/job.js';
import { type Box, boxIn, only, NOON } from '../support/inbox.js';
import { ENGINES } from '../support/mirror/open.js';

const ERROR = { code: 'unavailable', message: 'answered 503' };
const SECOND = 1000;

async function claimOne(box: Box, now = NOON): Promise<ClaimedJob> {
  return only(await box.claim({ now, leaseMs: 60 * SECOND, slots: 1 }));
}

const askAgain = (box: Box, now: number): Promise<number> =>
  box.enqueue(installationJob('a', 'acme', 'delivery'), now);

describe.each(ENGINES)('$name', ({ store }) => {
  async function running(payload?: Record<string, unknown>): Promise<{ box: Box; held: ClaimedJob }> {
    const box = boxIn(await store());
    await box.enqueue({ ...installationJob('a', 'acme', 'schedule'), ...(payload ? { payload } : {}) }, NOON);
    return { box, held: await claimOne(box) };
  }

  describe('a failed job', () => {
    test('waits for its retry time with its error in its row', async () => {
      const { box, held } = await running();
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

    test('does not wait for a retry time that only a clock which was ahead can have given', async () => {
      const { box, held } = await running();
      await box.retry(held, NOON + 24 * 3600 * SECOND, ERROR, NOON);
      await askAgain(box, NOON + SECOND);
      expect(await claimOne(box, NOON + SECOND)).toMatchObject({ id: held.id, attempts: 2 });
    });

    test('keeps its retry time when a delivery asks for the same', async () => {
      const { box, held } = await running();
      await box.retry(held, NOON + 60 * SECOND, ERROR, NOON);
      expect(await askAgain(box, NOON + SECOND)).toBe(held.id);
      expect(await box.job(held.id)).toMatchObject({
        run_at: new Date(NOON + 60 * SECOND).toISOString(),
        attempts: 1,
        trigger: 'delivery',
      });
    });

    test('has failed by its tenth failure', async () => {
      const { box, held } = await running();
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

    test('gives way to a waiting job of the same key, which takes over its attempts and its retry time', async () => {
      const { box, held } = await running();
      const waiting = await askAgain(box, NOON + 10);
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

    test('never narrows the waiting job that takes over from it', async () => {
      const { box, held } = await running({ resources: { warehouse: true }, full: true });
      const waiting = await askAgain(box, NOON + 10);
      await box.retry(held, NOON + 30 * SECOND, ERROR, NOON + 20);
      expect(JSON.parse((await box.job(waiting)).payload)).toEqual({ full: true });
    });
  });

  describe('merging', () => {
    test('a delivery widens a waiting job that was to read one resource', async () => {
      const box = boxIn(await store());
      const id = await box.enqueue(
        { ...installationJob('a', 'acme', 'worker'), payload: { resources: { warehouse: true } } },
        NOON,
      );
      expect(await askAgain(box, NOON)).toBe(id);
      expect(await box.job(id)).toMatchObject({ payload: '{}', trigger: 'delivery' });
    });

    test('two narrow wishes add up', async () => {
      const box = boxIn(await store());
      const wish = (name: string) => ({
        ...installationJob('a', 'acme', 'worker'),
        payload: { resources: { [name]: true } },
      });
      await box.enqueue(wish('warehouse'), NOON);
      const id = await box.enqueue(wish('inventory'), NOON);
      expect(JSON.parse((await box.job(id)).payload)).toEqual({
        resources: { warehouse: true, inventory: true },
      });
    });

    test('a delivery brings a job forward that the schedule had set for later', async () => {
      const box = boxIn(await store());
      const id = await box.enqueue(
        { ...installationJob('a', 'acme', 'schedule'), startDelayMs: 600 * SECOND },
        NOON,
      );
      expect(await askAgain(box, NOON + SECOND)).toBe(id);
      expect(await claimOne(box, NOON + SECOND)).toMatchObject({ id, trigger: 'delivery' });
    });

    test('the schedule does not put off what a delivery wants now', async () => {
      const box = boxIn(await store());
      const id = await askAgain(box, NOON);
      await box.enqueue({ ...installationJob('a', 'acme', 'schedule'), startDelayMs: 600 * SECOND }, NOON);
      expect(await claimOne(box, NOON)).toMatchObject({ id, trigger: 'delivery' });
    });

    test('a clock that was set back delays a delivery by a second at most', async () => {
      const { box, held } = await running();
      await box.finish(held, 'read', NOON);
      const hourAgo = NOON - 3600 * SECOND;
      const id = await askAgain(box, hourAgo);
      expect(await box.job(id)).toMatchObject({ run_at: new Date(hourAgo + SECOND).toISOString() });
    });
  });

  describe('a job that ends while the schedule waits with the same key', () => {
    const TOMORROW = NOON + 24 * 3600 * SECOND;

    /** A read that a delivery asked for runs, and the schedule has asked for the next one. */
    async function runningBeforeTomorrow(): Promise<{ box: Box; held: ClaimedJob; waiting: number }> {
      const box = boxIn(await store());
      await askAgain(box, NOON);
      const held = await claimOne(box);
      const scheduled = installationJob('a', 'acme', 'schedule');
      const waiting = await box.enqueue(
        { ...scheduled, startDelayMs: TOMORROW - NOON - SECOND },
        NOON + SECOND,
      );
      return { box, held, waiting };
    }

    const runTime = async (box: Box, id: number) => Date.parse((await box.job(id)).run_at) - NOON;

    test('runs again at once after it is given back', async () => {
      const { box, held, waiting } = await runningBeforeTomorrow();
      await box.giveBack(held, NOON + 5 * SECOND);
      expect(await box.job(held.id)).toMatchObject({ outcome: 'merged', merged_into: waiting });
      expect(await runTime(box, waiting)).toBe(5 * SECOND);
    });

    test('is given back no earlier than one pace after its start', async () => {
      const { box, held, waiting } = await runningBeforeTomorrow();
      await box.giveBack(held, NOON + 10);
      expect(await runTime(box, waiting)).toBe(SECOND);
    });

    test('waits as long as it was told when it is given back', async () => {
      const { box, held, waiting } = await runningBeforeTomorrow();
      await box.end(held, { act: 'release', delayMs: 7 * SECOND }, NOON + 5 * SECOND);
      expect(await runTime(box, waiting)).toBe(12 * SECOND);
    });

    test('runs again after its backoff, and not before', async () => {
      const { box, held, waiting } = await runningBeforeTomorrow();
      await box.retry(held, NOON + 90 * SECOND, ERROR, NOON + 5 * SECOND);
      expect(await runTime(box, waiting)).toBe(90 * SECOND);
    });

    test('runs again by the end of its pause', async () => {
      const { box, held, waiting } = await runningBeforeTomorrow();
      await box.pause(held, NOON + 60 * SECOND, ERROR, NOON + 5 * SECOND);
      expect(await runTime(box, waiting)).toBe(60 * SECOND);
    });

    test('runs at once when a person retries it after it failed', async () => {
      const { box, held, waiting } = await runningBeforeTomorrow();
      await box.fail(held, ERROR, NOON + 5 * SECOND);
      expect(await box.retryFailed(held.id, NOON + 6 * SECOND)).toBe(waiting);
      expect(await runTime(box, waiting)).toBe(6 * SECOND);
    });

    test('paces by the present where its start lies ahead of a clock that was set back', async () => {
      const { box, held, waiting } = await runningBeforeTomorrow();
      await box.giveBack(held, NOON - 3600 * SECOND);
      expect(await runTime(box, waiting)).toBe(-3599 * SECOND);
    });
  });

  test.each(['retry', 'pause'] as const)(
    'a job that ends with a %s leaves the run time of a waiting job that a person asked for',
    async act => {
      const { box, held } = await running();
      const waiting = await box.enqueue(installationJob('a', 'acme', 'person'), NOON + 10);
      await box[act](held, NOON + 90 * SECOND, ERROR, NOON + 20);
      expect(await box.job(waiting)).toMatchObject({
        trigger: 'person',
        run_at: new Date(NOON + SECOND).toISOString(),
      });
    },
  );

  describe('a certificate job of an organization that was installed anew', () => {
    const walk = (installationId: string, more: Partial<NewJob> = {}): NewJob => ({
      kind: 'certificates',
      dedupeKey: 'certificates:acme',
      trigger: 'worker',
      part: 'certificates',
      installationId,
      organizationId: 'acme',
      ...more,
    });
    const claimWalk = async (box: Box, now: number): Promise<ClaimedJob> =>
      only(await box.claim({ now, leaseMs: 60 * SECOND, slots: 1, part: 'certificates' }));

    test.each([
      ['is due', {}],
      ['waits', { startDelayMs: 60 * SECOND }],
    ])('takes the newer installation where it %s', async (_state, more) => {
      const box = boxIn(await store());
      const id = await box.enqueue(walk('old', more), NOON);
      expect(await box.enqueue(walk('new'), NOON + SECOND)).toBe(id);
      expect(await claimWalk(box, NOON + SECOND)).toMatchObject({ id, installationId: 'new' });
    });

    test('keeps its installation where the same is asked for without one', async () => {
      const box = boxIn(await store());
      const id = await box.enqueue(walk('old', { startDelayMs: 60 * SECOND }), NOON);
      await box.enqueue({ ...walk('old'), installationId: null }, NOON);
      expect(await claimWalk(box, NOON)).toMatchObject({ id, installationId: 'old' });
    });

    test('keeps the newer installation where a read by the old one is merged with it', async () => {
      const box = boxIn(await store());
      await box.enqueue(walk('old'), NOON);
      const held = await claimWalk(box, NOON);
      const waiting = await box.enqueue(walk('new'), NOON + SECOND);
      await box.giveBack(held, NOON + 2 * SECOND);
      expect(await claimWalk(box, NOON + 2 * SECOND)).toMatchObject({ id: waiting, installationId: 'new' });
    });

    test('takes the newer installation from a read that is merged with an older job', async () => {
      const box = boxIn(await store());
      const oldest = await box.enqueue(walk('old'), NOON);
      await box.fail(await claimWalk(box, NOON), ERROR, NOON);
      await box.enqueue(walk('new'), NOON + SECOND);
      const held = await claimWalk(box, NOON + SECOND);
      expect(await box.retryFailed(oldest, NOON + 2 * SECOND)).toBe(oldest);
      await box.giveBack(held, NOON + 3 * SECOND);
      expect(await claimWalk(box, NOON + 3 * SECOND)).toMatchObject({ id: oldest, installationId: 'new' });
    });
  });

  describe('a paused job', () => {
    test('waits until the same is asked for', async () => {
      const { box, held } = await running();
      expect(await box.pause(held, NOON + 60 * SECOND, ERROR, NOON)).toBe(true);
      expect(await box.claim({ now: NOON + 59 * SECOND, leaseMs: 1, slots: 9 })).toEqual([]);
      expect(await box.at(0).countJobs()).toMatchObject({ paused: 1 });
      await askAgain(box, NOON + 5 * SECOND);
      expect(await claimOne(box, NOON + 5 * SECOND)).toMatchObject({ id: held.id, attempts: 1 });
    });

    test('T38 tries again by itself, and however often it is refused, it does not end for that', async () => {
      const { box, held } = await running();
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

    test('keeps its own time where the schedule asks for the same later', async () => {
      const { box, held } = await running();
      await box.pause(held, NOON + 60 * SECOND, ERROR, NOON);
      const job = installationJob('a', 'acme', 'schedule');
      await box.enqueue({ ...job, startDelayMs: 600 * SECOND }, NOON + SECOND);
      expect(await claimOne(box, NOON + 60 * SECOND)).toMatchObject({ id: held.id });
    });

    test('is no dead end: what was asked for while it ran is done', async () => {
      const { box, held } = await running();
      const waiting = await askAgain(box, NOON + 10);
      await box.pause(held, NOON + 60 * SECOND, ERROR, NOON + 20);
      expect(await box.job(held.id)).toMatchObject({ state: 'done', merged_into: waiting });
      expect(await claimOne(box, NOON + SECOND)).toMatchObject({ id: waiting, attempts: 1 });
    });
  });

  describe('a failed job', () => {
    test('is run again by one command', async () => {
      const { box, held } = await running();
      await box.fail(held, ERROR, NOON);
      expect(await box.jobs("state = 'failed'")).toMatchObject([{ id: held.id, last_error: 'answered 503' }]);
      expect(await box.retryFailed(held.id + 1, NOON)).toBeNull();
      expect(await box.retryFailed(held.id, NOON)).toBe(held.id);
      expect(await box.retryFailed(held.id, NOON)).toBeNull();
      expect(await claimOne(box)).toMatchObject({ id: held.id, attempts: 1 });
    });

    test('gives way to a waiting one when it is run again', async () => {
      const { box, held } = await running();
      await box.fail(held, ERROR, NOON);
      const waiting = await askAgain(box, NOON + 10);
      expect(waiting).not.toBe(held.id);
      expect(await box.retryFailed(held.id, NOON)).toBe(waiting);
      expect(await box.job(held.id)).toMatchObject({ state: 'done', outcome: 'merged' });
    });
  });
});
