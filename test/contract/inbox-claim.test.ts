import { describe, expect, test } from 'vitest';
import { type ClaimedJob, type NewJob, createInstallationJob } from '../../src/inbox/job.js';
import { type TestInbox, createTestInbox, getOnly, NOON } from '../support/inbox.js';
import { ENGINES } from '../support/mirror/open.js';

const LEASE_MS = 60_000;
const HOUR = 3_600_000;
const ERROR = { code: 'unavailable', message: 'answered 503' };

const claimJobs = (box: TestInbox, now = NOON, slots = 10): Promise<ClaimedJob[]> =>
  box.claim({ now, leaseMs: LEASE_MS, slots });

async function claimOne(box: TestInbox, now = NOON): Promise<ClaimedJob> {
  return getOnly(await claimJobs(box, now, 1));
}

function createJob(
  installation: string,
  organization: string | null = null,
  overrides: Partial<NewJob> = {},
): NewJob {
  return { ...createInstallationJob(installation, organization, 'delivery'), ...overrides };
}

describe.each(ENGINES)('$name', ({ store }) => {
  describe('a claim', () => {
    test('takes at most as many jobs as there are slots, and only due ones', async () => {
      const box = createTestInbox(await store());
      for (const id of ['a', 'b', 'c']) await box.enqueue(createJob(id), NOON);
      await box.enqueue(createJob('later', null, { startDelayMs: 1 }), NOON);
      expect(await claimJobs(box, NOON, 0)).toEqual([]);
      expect(await claimJobs(box, NOON, 2)).toHaveLength(2);
      expect(await claimJobs(box, NOON, 2)).toHaveLength(1);
      expect(await claimJobs(box, NOON, 2)).toEqual([]);
      expect(await claimJobs(box, NOON + 1, 2)).toMatchObject([{ installationId: 'later' }]);
    });

    test('gets a number that rises over all jobs and unused slots, and counts the attempt', async () => {
      const box = createTestInbox(await store());
      for (const id of ['a', 'b', 'c']) await box.enqueue(createJob(id), NOON);
      expect((await claimJobs(box, NOON, 2)).map(held => held.claim)).toEqual([1, 2]);
      expect(await claimJobs(box, NOON, 2)).toMatchObject([{ claim: 3, attempts: 1 }]);
      expect((await claimJobs(box, NOON + LEASE_MS)).map(held => [held.claim, held.attempts])).toEqual([
        [5, 2],
        [6, 2],
        [7, 2],
      ]);
    });

    test('after an outage takes jobs that failed during it before other due jobs, once each', async () => {
      const box = createTestInbox(await store());
      const due = Array.from({ length: 300 }, (_, index) => createJob(`due-${index}`));
      await box.enqueue(createJob('retried'), NOON);
      await box.enqueue(createJob('failed'), NOON);
      await box.enqueue(createJob('waits'), NOON);
      await box.enqueue(createJob('rejected'), NOON);
      const later = NOON + 60 * LEASE_MS;
      for (const held of await claimJobs(box)) {
        if (held.installationId === 'retried') await box.retry(held, later, ERROR, NOON);
        if (held.installationId === 'failed') await box.fail(held, ERROR, NOON);
        if (held.installationId === 'rejected') await box.fail(held, { ...ERROR, code: 'rejected' }, NOON);
        if (held.installationId === 'waits')
          await box.retry(held, later, { ...ERROR, code: 'rate_limited' }, NOON);
      }
      await box.at(NOON - LEASE_MS).enqueue(due);
      expect(await box.at(NOON + 1).prioritizeFailed(['unavailable'])).toBe(2);
      expect(await box.jobs("state = 'failed'")).toMatchObject([{ installation_id: 'rejected' }]);
      const first = await claimJobs(box, NOON + 1, 3);
      expect(first.map(({ installationId }) => installationId)).toEqual([
        expect.stringMatching(/^(retried|failed)$/),
        expect.stringMatching(/^(retried|failed)$/),
        expect.stringMatching(/^due-/),
      ]);
      for (const held of first) await box.retry(held, NOON + 2, ERROR, NOON + 1);
      const names = (await claimJobs(box, NOON + 2, 100)).map(({ installationId }) => installationId);
      expect(names).toHaveLength(100);
      for (const name of names) expect(name).toMatch(/^due-/);
      expect(await box.at(NOON + 2).prioritizeFailed([])).toBe(0);
    });

    test('after an outage takes retry jobs at once that are due within two seconds, and no other waiting jobs', async () => {
      const box = createTestInbox(await store());
      await box.enqueue(createJob('soon', null, { kind: 'retry', startDelayMs: 2000 }), NOON);
      await box.enqueue(createJob('later', null, { kind: 'retry', startDelayMs: 2001 }), NOON);
      await box.enqueue(createJob('read', null, { startDelayMs: 2000 }), NOON);
      expect(await box.at(NOON).prioritizeFailed(['unavailable'])).toBe(1);
      expect(await claimJobs(box)).toMatchObject([{ installationId: 'soon' }]);
    });

    test('gets a number above the highest one the mirror has seen, after an inbox.db was restored', async () => {
      const box = createTestInbox(await store());
      await box.at(NOON).raiseClaims(41);
      await box.at(NOON).raiseClaims(7);
      await box.enqueue(createJob('a'), NOON);
      expect((await claimOne(box)).claim).toBe(42);
    });

    test('gets a number above those that were allocated for other work', async () => {
      const box = createTestInbox(await store());
      expect(await box.at(NOON).allocateClaim(41)).toBe(42);
      expect(await box.at(NOON).allocateClaim(7)).toBe(43);
      await box.enqueue(createJob('a'), NOON);
      expect((await claimOne(box)).claim).toBe(44);
    });

    test('takes at most one job of an installation and of an organization in each part', async () => {
      const box = createTestInbox(await store());
      await box.enqueue(createJob('old', 'acme'), NOON);
      await box.enqueue(createJob('new', 'acme'), NOON);
      await box.enqueue(createJob('old', 'acme', { dedupeKey: 'second:old' }), NOON);
      await box.enqueue(createJob('new', null, { dedupeKey: 'third:new' }), NOON);
      await box.enqueue(createJob('other', 'other'), NOON);
      const first = await claimJobs(box);
      expect(new Set(first.map(held => held.installationId))).toEqual(new Set(['old', 'other']));
      expect(first).toHaveLength(2);
      expect(await claimJobs(box)).toEqual([]);
      await box.enqueue(createJob('old', 'acme', { dedupeKey: 'pdf', part: 'certificates' }), NOON);
      const certificateClaim = { now: NOON, leaseMs: LEASE_MS, slots: 10, part: 'certificates' } as const;
      expect(await box.claim(certificateClaim)).toMatchObject([{ part: 'certificates' }]);
      for (const held of first) await box.finish(held, 'read', NOON);
      expect(await claimJobs(box)).toHaveLength(1);
    });

    test('takes jobs without an installation regardless of other running jobs', async () => {
      const box = createTestInbox(await store());
      const tick = (key: string): NewJob => ({ kind: 'tick', dedupeKey: key, trigger: 'schedule' });
      await box.enqueue(tick('one'), NOON);
      await box.enqueue(tick('two'), NOON);
      expect(await claimJobs(box)).toHaveLength(2);
    });

    test('takes only jobs of the requested parts', async () => {
      const box = createTestInbox(await store());
      await box.enqueue(createJob('a'), NOON);
      await box.enqueue(createJob('a', null, { dedupeKey: 'pdf', part: 'certificates' }), NOON);
      expect(await box.claim({ now: NOON, leaseMs: LEASE_MS, slots: 5, part: 'certificates' })).toMatchObject(
        [{ part: 'certificates' }],
      );
    });

    test('is fair: the installation whose last read is oldest comes first', async () => {
      const box = createTestInbox(await store());
      const order: (string | null)[] = [];
      for (let round = 0; round < 30; round += 1) {
        const now = NOON + round * 2000;
        for (let part = 0; part < 5; part += 1) {
          await box.enqueue(createJob('huge', null, { dedupeKey: `huge:${part}` }), now);
        }
        await box.enqueue(createJob('small'), now);
        const held = await claimOne(box, now + 1000);
        order.push(held.installationId);
        await box.finish(held, 'read', now + 1500);
      }
      expect(order.filter(id => id === 'small').length).toBeGreaterThanOrEqual(14);
    });

    describe('beside 1,000 due first reads', () => {
      async function openBusyBox(): Promise<TestInbox> {
        const box = createTestInbox(await store());
        await box.enqueue(createJob('known'), NOON - HOUR);
        await box.enqueue(createJob('stale'), NOON - HOUR);
        for (const held of await claimJobs(box, NOON - HOUR, 2)) await box.finish(held, 'read', NOON - HOUR);
        for (let index = 0; index < 1000; index += 1)
          await box.enqueue(
            createInstallationJob(`new-${index}`, `new-${index}`, index % 2 === 0 ? 'delivery' : 'schedule'),
            NOON,
          );
        return box;
      }

      const claimNext = async (box: TestInbox, now: number) => {
        const held = await claimOne(box, now);
        await box.finish(held, 'read', now);
        return held.installationId ?? '';
      };

      test.each(['delivery', 'person'])(
        'a %s for an installation that was read before is claimed within two claims',
        async trigger => {
          const box = await openBusyBox();
          for (let round = 0; round < 8; round += 1) {
            const now = NOON + (round + 1) * 5000;
            await box.enqueue(createInstallationJob('known', 'known', trigger), now);
            const claimed = [await claimNext(box, now + 4000), await claimNext(box, now + 4500)];
            expect(claimed, `round ${round}`).toContain('known');
          }
        },
      );

      test('three of four claims go to announced reads, of the rest three of four to first reads, and the schedule is not starved', async () => {
        const box = await openBusyBox();
        await box.enqueue(createInstallationJob('stale', 'stale', 'schedule'), NOON);
        for (let index = 0; index < 40; index += 1) {
          await box.enqueue(createInstallationJob(`busy-${index}`, `busy-${index}`, 'person'), NOON);
        }
        const claimed: string[] = [];
        for (let claim = 0; claim < 32; claim += 1) claimed.push(await claimNext(box, NOON + 10_000 + claim));
        const count = (prefix: string) => claimed.filter(id => id.startsWith(prefix)).length;
        expect({ busy: count('busy'), first: count('new'), stale: count('stale') }).toEqual({
          busy: 24,
          first: 7,
          stale: 1,
        });
      });
    });

    test('reaches each of 1,000 installations', async () => {
      const box = createTestInbox(await store());
      for (let index = 0; index < 1000; index += 1)
        await box.enqueue(createJob(`installation-${index}`), NOON);
      const seen = new Set<string | null>();
      for (let round = 0; round < 250; round += 1) {
        for (const held of await claimJobs(box, NOON + round, 4)) {
          seen.add(held.installationId);
          await box.finish(held, 'read', NOON + round);
        }
      }
      expect(seen.size).toBe(1000);
    });

    test('T63 gives a job to only one of several workers', async () => {
      const kept = await store();
      const workers = Array.from({ length: 4 }, () => createTestInbox(kept.openSecondConnection()));
      for (let index = 0; index < 40; index += 1)
        await workers[0]?.enqueue(createJob(`installation-${index}`), NOON);
      const claimed = (await Promise.all(workers.map(worker => claimJobs(worker, NOON, 15)))).flat();
      expect(claimed).toHaveLength(40);
      expect(new Set(claimed.map(held => held.id)).size).toBe(40);
      expect(new Set(claimed.map(held => held.claim)).size).toBe(40);
    });
  });

  describe('a lease', () => {
    test('that was set by a fast clock is shortened by the next claim', async () => {
      const box = createTestInbox(await store());
      await box.enqueue(createJob('a', 'acme'), NOON);
      const held = await claimOne(box, NOON + 24 * 3_600_000);
      await box.enqueue(createJob('b', 'other'), NOON);
      await claimOne(box, NOON);
      expect(await claimJobs(box, NOON + LEASE_MS - 1)).toEqual([]);
      expect((await claimJobs(box, NOON + LEASE_MS)).map(({ id }) => id)).toContain(held.id);
    });

    test('T61 that expires lets another worker claim the job, and the first can no longer change it', async () => {
      const box = createTestInbox(await store());
      await box.enqueue(createJob('a', 'acme'), NOON);
      const first = await claimOne(box);
      expect(await claimJobs(box, NOON + LEASE_MS - 1)).toEqual([]);
      const second = await claimOne(box, NOON + LEASE_MS);
      expect(second).toMatchObject({ id: first.id, claim: first.claim + 1 });
      const now = NOON + LEASE_MS + 1;
      expect(await box.at(now).renew([first, second], LEASE_MS)).toEqual([first.id]);
      expect(await box.finish(first, 'read', now)).toBe(false);
      expect(await box.retry(first, now, ERROR, now)).toBe(false);
      expect(await box.pause(first, now, ERROR, now)).toBe(false);
      expect(await box.fail(first, ERROR, now)).toBe(false);
      expect(await box.at(now).assignOrganization(first, 'acme')).toBe('lost');
      expect(await box.job(first.id)).toMatchObject({
        state: 'running',
        claim: second.claim,
        last_error: null,
      });
      expect(await box.finish(second, 'read', now)).toBe(true);
      expect(await box.finish(second, 'read', now)).toBe(false);
    });

    test('that is renewed does not expire, but other leases do', async () => {
      const box = createTestInbox(await store());
      await box.enqueue(createJob('a'), NOON);
      const held = await claimOne(box);
      await box.enqueue(createJob('b'), NOON);
      const other = await claimOne(box);
      expect(await box.at(NOON + LEASE_MS).renew([held], LEASE_MS)).toEqual([]);
      expect((await claimJobs(box, NOON + LEASE_MS + 1)).map(({ id }) => id)).toEqual([other.id]);
    });

    test('that expired is taken over before a waiting job of the same installation starts', async () => {
      const box = createTestInbox(await store());
      await box.enqueue(createJob('a', 'acme'), NOON);
      const lost = await claimOne(box);
      await box.enqueue(createJob('a', 'acme'), NOON + 10);
      await box.enqueue(createJob('re-installed', 'acme'), NOON + 10);
      const takenOver = await claimJobs(box, NOON + LEASE_MS);
      expect(takenOver).toMatchObject([{ id: lost.id }]);
      expect(await box.at(NOON + LEASE_MS).renew([lost], LEASE_MS)).toEqual([lost.id]);
    });

    test('T64 that expires ten times fails the job with a reason', async () => {
      const box = createTestInbox(await store());
      const id = await box.enqueue(createJob('a'), NOON);
      let now = NOON;
      for (let attempt = 1; attempt <= 10; attempt += 1) {
        expect(await claimOne(box, now)).toMatchObject({ id, attempts: attempt });
        now += LEASE_MS;
      }
      expect(await claimJobs(box, now)).toEqual([]);
      expect(await box.job(id)).toMatchObject({
        state: 'failed',
        error_or_pause_code: 'never_finished',
        last_error: 'started 10 times, and its process never came back',
        finished_at: new Date(now).toISOString(),
      });
      expect(await box.retryFailed(id, now)).toBe(id);
      expect(await claimOne(box, now)).toMatchObject({ id, attempts: 1 });
    });
  });

  describe('an organization that is assigned to a running job', () => {
    test('is stored, unless another running job already reads it', async () => {
      const box = createTestInbox(await store());
      await box.enqueue(createJob('old', 'acme'), NOON);
      await box.enqueue(createJob('new'), NOON);
      const [first, second] = await claimJobs(box);
      if (first === undefined || second === undefined) throw new Error('expected two claims');
      const unknown = first.organizationId === null ? first : second;
      expect(await box.at(NOON).assignOrganization(unknown, 'acme')).toBe('busy');
      expect(await box.at(NOON).assignOrganization(unknown, 'other')).toBe('ours');
      expect(await box.job(unknown.id)).toMatchObject({ organization_id: 'other' });
      await box.finish(unknown, 'read', NOON);
      await box.enqueue(createJob('new'), NOON + 1);
      expect(await claimOne(box, NOON + 2000)).toMatchObject({
        installationId: 'new',
        organizationId: 'other',
      });
    });
  });
});
