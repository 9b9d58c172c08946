import { createHash } from 'node:crypto';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createInstallationJob } from '../../src/inbox/job.js';
import { createTestInbox, acceptedDelivery, NOON } from '../support/inbox.js';
import { ENGINES } from '../support/mirror/open.js';
import { until } from '../support/wait.js';

const DAY_MS = 86_400_000;

describe.each(ENGINES)('$name', ({ store }) => {
  test('a watcher is notified of every new job, its own included, until it stops', async () => {
    const kept = await store();
    let notifications = 0;
    const ours = createTestInbox(kept);
    const theirs = createTestInbox(kept.openSecondConnection());
    const stop = ours.at(NOON).watch(() => {
      notifications += 1;
    });
    onTestFinished(stop);
    await theirs.enqueue(createInstallationJob('theirs', null, 'delivery'), NOON);
    await until(() => notifications > 0, 'a notification of a job from another process');
    const before = notifications;
    await ours.enqueue(createInstallationJob('ours', null, 'worker'), NOON);
    await until(() => notifications > before, 'a notification of its own job');
    stop();
    const atStop = notifications;
    await theirs.enqueue(createInstallationJob('later', null, 'delivery'), NOON);
    await new Promise(resolve => setTimeout(resolve, 100));
    expect(notifications).toBe(atStop);
  });

  describe('pruning', async () => {
    async function openFilledInbox() {
      const kept = await store();
      const inbox = createTestInbox(kept);
      const text = (name: string) => ({
        signedData: name,
        sha256: createHash('sha256').update(name).digest('hex'),
      });
      const arrive = (name: string, now: number) =>
        inbox.accept(
          [acceptedDelivery({ ...text(name), receivedAt: now, installationId: name, organizationId: name })],
          now,
        );
      await arrive('old', NOON);
      await arrive('repeated', NOON);
      const [done, other] = await inbox.claim({ now: NOON, leaseMs: 1000, slots: 2 });
      if (done === undefined || other === undefined) throw new Error('expected two claims');
      await inbox.finish(done, 'read', NOON);
      await inbox.fail(other, { code: 'broken', message: 'broken' }, NOON);
      await arrive('repeated', NOON + 5 * DAY_MS);
      return { kept, inbox };
    }

    test('removes rows older than the retention except the newest delivery, and texts without deliveries', async () => {
      const { kept, inbox } = await openFilledInbox();
      expect(await inbox.at(NOON + 10 * DAY_MS).prune(7)).toEqual({ deliveries: 2, signedTexts: 1, jobs: 1 });
      expect(await inbox.at(NOON + 10 * DAY_MS).prune(7)).toBeNull();
      expect(await kept.db.column('SELECT signed_data FROM signed_texts')).toEqual(['repeated']);
      expect(await kept.db.column('SELECT installation_id FROM deliveries')).toEqual(['repeated']);
      expect(await inbox.at(0).countJobs()).toMatchObject({ waiting: 1, failed: 1 });
      expect(await inbox.at(NOON + 20 * DAY_MS).prune(7)).toBeNull();
      expect(await inbox.at(0).countJobs()).toMatchObject({ waiting: 1, failed: 1 });
    });

    test('keeps everything at 0 days', async () => {
      const { kept, inbox } = await openFilledInbox();
      expect(await inbox.at(NOON + 10_000 * DAY_MS).prune(0)).toBeNull();
      expect(await kept.db.value('SELECT count(*) FROM deliveries')).toBe(3);
    });

    test('happens in small batches', async () => {
      const kept = await store();
      const inbox = createTestInbox(kept);
      await inbox.accept(
        Array.from({ length: 1200 }, () => acceptedDelivery()),
        NOON,
      );
      const batches: number[] = [];
      const { prune } = inbox.at(NOON + 100 * DAY_MS);
      for (let pruned = await prune(90); pruned !== null; pruned = await prune(90)) {
        batches.push(pruned.deliveries);
      }
      expect(batches).toEqual([500, 500, 199]);
      await inbox.accept([acceptedDelivery()], NOON + 100 * DAY_MS);
      expect(await kept.db.column('SELECT id FROM deliveries ORDER BY id')).toEqual([1200, 1201]);
    });
  });

  test('haveDeliveriesArrived finds accepted deliveries since an instant, and none of the future', async () => {
    const { accept, at } = createTestInbox(await store());
    const event = 'newPermissionsAccepted';
    await accept(
      [acceptedDelivery({ installationId: 'a' }), acceptedDelivery({ installationId: 'b', event })],
      NOON,
    );
    await accept([acceptedDelivery({ installationId: 'c', verdict: 'ignored', reason: 'other_app' })], NOON);
    const queries = [{ since: NOON }, { since: NOON + 1 }, { since: NOON, event }];
    expect(await at(NOON + 2).haveDeliveriesArrived('a', queries)).toEqual([true, false, false]);
    expect(await at(NOON + 2).haveDeliveriesArrived('b', queries)).toEqual([true, false, true]);
    expect(await at(NOON + 2).haveDeliveriesArrived('c', [{ since: 0 }])).toEqual([false]);
    expect(await at(NOON - 1).haveDeliveriesArrived('a', [{ since: 0 }])).toEqual([false]);
  });

  test('jobs are counted by state, without done jobs', async () => {
    const inbox = createTestInbox(await store());
    for (const id of ['a', 'b', 'c', 'd', 'e'])
      await inbox.enqueue(createInstallationJob(id, null, 'delivery'), NOON);
    const [done, paused, failed] = await inbox.claim({ now: NOON, leaseMs: 1000, slots: 4 });
    if (done === undefined || paused === undefined || failed === undefined)
      throw new Error('expected claims');
    const error = { code: 'unavailable', message: 'answered 503' };
    await inbox.finish(done, 'read', NOON);
    await inbox.pause(paused, NOON + 1000, error, NOON);
    await inbox.fail(failed, error, NOON);
    expect(await inbox.at(NOON).countJobs()).toEqual({
      waiting: 1,
      running: 1,
      paused: 1,
      failed: 1,
      oldestRunAt: new Date(NOON).toISOString(),
    });
  });
});
