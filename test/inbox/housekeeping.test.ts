import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/engines/sqlite/open.js';
import { backoffMs, MAX_BACKOFF_MS } from '../../src/inbox/backoff.js';
import { installationJob } from '../../src/inbox/job.js';
import { boxOf } from '../support/box.js';
import { acceptedDelivery, NOON, temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { until } from '../support/wait.js';

const DAY_MS = 86_400_000;

describe('backing off', () => {
  test('doubles up to 15 minutes, and is spread over the upper half', async () => {
    const longest = Array.from({ length: 12 }, (_, index) => backoffMs(index + 1, 1));
    expect(longest.slice(0, 4)).toEqual([1000, 2000, 4000, 8000]);
    expect(longest.at(-1)).toBe(MAX_BACKOFF_MS);
    expect(MAX_BACKOFF_MS).toBe(15 * 60_000);
    expect(backoffMs(4, 0)).toBe(4000);
    expect(backoffMs(4, 0.5)).toBe(6000);
    expect(backoffMs(1000, 1)).toBe(MAX_BACKOFF_MS);
    expect(backoffMs(0, 0)).toBe(500);
  });
});

describe('waking up', () => {
  test('follows a commit of another connection and a job that this one asks for, but no other write and not silence', async () => {
    const folder = temporaryFolder();
    const ours = temporaryInbox(folder);
    const theirs = openDatabase(join(folder, 'inbox.db'), { busyTimeoutMs: 1000 });
    onTestFinished(() => {
      theirs.close();
    });
    let woken = 0;
    const inbox = boxOf(ours);
    const stop = inbox.at(NOON).watch(() => {
      woken += 1;
    });
    onTestFinished(stop);
    await inbox.at(NOON).raiseClaims(7);
    await new Promise(resolve => setTimeout(resolve, 100));
    expect(woken).toBe(0);
    await boxOf(theirs).enqueue(installationJob('theirs', null, 'delivery'), NOON);
    await until(() => woken === 1, 'the poller to see the commit');
    await inbox.enqueue(installationJob('ours', null, 'worker'), NOON);
    await until(() => woken === 2, 'the poller to see our own job');
    stop();
    await boxOf(theirs).enqueue(installationJob('later', null, 'delivery'), NOON);
    await new Promise(resolve => setTimeout(resolve, 100));
    expect(woken).toBe(2);
  });
});

describe('pruning', async () => {
  async function filled() {
    const db = temporaryInbox();
    const inbox = boxOf(db);
    const text = (name: string) => ({
      signedData: name,
      digest: createHash('sha256').update(name).digest('hex'),
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
    await inbox.bury(other, { code: 'broken', message: 'broken' }, NOON);
    await arrive('repeated', NOON + 5 * DAY_MS);
    return { db, inbox };
  }

  test('removes what is older than the retention, and a text with its last delivery', async () => {
    const { db, inbox } = await filled();
    expect(await inbox.at(NOON + 10 * DAY_MS).prune(7)).toEqual({ deliveries: 2, signedTexts: 1, jobs: 1 });
    expect(await inbox.at(NOON + 10 * DAY_MS).prune(7)).toBeNull();
    expect(db.prepare('SELECT signed_data FROM signed_texts').pluck().all()).toEqual(['repeated']);
    expect(db.prepare('SELECT installation_id FROM deliveries').pluck().all()).toEqual(['repeated']);
    expect(await inbox.at(0).countJobs()).toMatchObject({ ready: 1, buried: 1 });
    expect(await inbox.at(NOON + 20 * DAY_MS).prune(7)).toEqual({ deliveries: 1, signedTexts: 1, jobs: 0 });
    expect(await inbox.at(0).countJobs()).toMatchObject({ ready: 1, buried: 1 });
  });

  test('keeps everything for ever at 0 days', async () => {
    const { db, inbox } = await filled();
    expect(await inbox.at(NOON + 10_000 * DAY_MS).prune(0)).toBeNull();
    expect(db.prepare('SELECT count(*) FROM deliveries').pluck().get()).toBe(3);
  });

  test('goes in small batches', async () => {
    const inbox = boxOf();
    await inbox.accept(
      Array.from({ length: 1200 }, () => acceptedDelivery()),
      NOON,
    );
    const batches: number[] = [];
    const { prune } = inbox.at(NOON + 100 * DAY_MS);
    for (let pruned = await prune(90); pruned !== null; pruned = await prune(90)) {
      batches.push(pruned.deliveries);
    }
    expect(batches).toEqual([500, 500, 200]);
  });
});

test('what came for an installation is known since an instant, and nothing of the future', async () => {
  const { accept, at } = boxOf();
  const event = 'newPermissionsAccepted';
  await accept(
    [acceptedDelivery({ installationId: 'a' }), acceptedDelivery({ installationId: 'b', event })],
    NOON,
  );
  await accept([acceptedDelivery({ installationId: 'c', verdict: 'set_aside', reason: 'other_app' })], NOON);
  const since = [{ since: NOON }, { since: NOON + 1 }, { since: NOON, event }];
  expect(await at(NOON + 2).haveCome('a', since)).toEqual([true, false, false]);
  expect(await at(NOON + 2).haveCome('b', since)).toEqual([true, false, true]);
  expect(await at(NOON + 2).haveCome('c', [{ since: 0 }])).toEqual([false]);
  expect(await at(NOON - 1).haveCome('a', [{ since: 0 }])).toEqual([false]);
});

test('jobs are counted by what can become of them, and those that are done are not', async () => {
  const inbox = boxOf();
  for (const id of ['a', 'b', 'c', 'd', 'e'])
    await inbox.enqueue(installationJob(id, null, 'delivery'), NOON);
  const [done, parked, buried] = await inbox.claim({ now: NOON, leaseMs: 1000, slots: 4 });
  if (done === undefined || parked === undefined || buried === undefined) throw new Error('expected claims');
  const error = { code: 'unavailable', message: 'answered 503' };
  await inbox.finish(done, 'read', NOON);
  await inbox.park(parked, NOON + 1000, error, NOON);
  await inbox.bury(buried, error, NOON);
  expect(await inbox.at(NOON).countJobs()).toEqual({
    ready: 1,
    claimed: 1,
    parked: 1,
    buried: 1,
    oldestRunAt: new Date(NOON).toISOString(),
  });
});
