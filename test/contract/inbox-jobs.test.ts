import { describe, expect, test } from 'vitest';
import { createTestInbox, getOnly, NOON } from '../support/inbox.js';
import { ENGINES } from '../support/mirror/open.js';
import { createInstallationJob } from '../../src/inbox/job.js';

const LEASE = { leaseMs: 60_000, slots: 4 };
const ERROR = { code: 'unavailable', message: 'answered 503' };

function createJob(id: string, organization: string | null = null) {
  return createInstallationJob(`installation-${id}`, organization, 'delivery');
}

describe.each(ENGINES)('$name', ({ store }) => {
  describe('enqueue', () => {
    test('a request is merged with a waiting job of the same key', async () => {
      const box = createTestInbox(await store());
      const first = await box.enqueue(createJob('1'), NOON);
      expect(await box.enqueue(createJob('1'), NOON + 5)).toBe(first);
      expect(await box.enqueue(createJob('2'), NOON)).not.toBe(first);
      expect(await box.at(0).countJobs()).toMatchObject({ waiting: 2 });
    });

    test('a request is never merged with a running job, and its own job starts one second after that one', async () => {
      const box = createTestInbox(await store());
      const first = await box.enqueue(createJob('1'), NOON);
      expect(await box.claim({ ...LEASE, now: NOON })).toMatchObject([{ id: first, claim: 1, attempts: 1 }]);
      const second = await box.enqueue(createJob('1'), NOON + 10);
      expect(second).not.toBe(first);
      expect(await box.job(second)).toMatchObject({
        state: 'waiting',
        run_at: new Date(NOON + 1000).toISOString(),
      });
    });

    test('a paused job waits again when it is requested again', async () => {
      const box = createTestInbox(await store());
      const first = await box.enqueue(createJob('1'), NOON);
      const held = getOnly(await box.claim({ ...LEASE, now: NOON }));
      expect(await box.pause(held, NOON + 60_000, ERROR, NOON)).toBe(true);
      expect(await box.job(first)).toMatchObject({ state: 'paused', error_or_pause_code: 'unavailable' });
      expect(await box.enqueue(createJob('1'), NOON + 5000)).toBe(first);
      expect(await box.job(first)).toMatchObject({ state: 'waiting', attempts: 0 });
    });

    test('a retried job keeps its run time when a delivery arrives, but runs at once for a person', async () => {
      const box = createTestInbox(await store());
      const first = await box.enqueue(createJob('1'), NOON);
      const held = getOnly(await box.claim({ ...LEASE, now: NOON }));
      await box.retry(held, NOON + 600_000, ERROR, NOON);
      await box.enqueue(createJob('1'), NOON + 5000);
      expect(await box.job(first)).toMatchObject({ run_at: new Date(NOON + 600_000).toISOString() });
      await box.enqueue({ ...createJob('1'), trigger: 'person' }, NOON + 5000);
      expect(await box.job(first)).toMatchObject({
        run_at: new Date(NOON + 5000).toISOString(),
        attempts: 1,
      });
    });

    test("a person's request replaces the trigger of a waiting job", async () => {
      const box = createTestInbox(await store());
      const first = await box.enqueue({ ...createJob('1'), trigger: 'schedule' }, NOON);
      expect(await box.enqueue({ ...createJob('1'), trigger: 'person' }, NOON)).toBe(first);
      expect(await box.job(first)).toMatchObject({ trigger: 'person' });
      for (const trigger of ['schedule', 'worker', 'delivery']) {
        await box.enqueue({ ...createJob('1'), trigger }, NOON);
        expect(await box.job(first)).toMatchObject({ trigger: 'person' });
      }
      const second = await box.enqueue({ ...createJob('2'), trigger: 'delivery' }, NOON);
      expect(await box.enqueue({ ...createJob('2'), trigger: 'person' }, NOON)).toBe(second);
      expect(await box.job(second)).toMatchObject({ trigger: 'person' });
    });
  });
});
