import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/engines/sqlite/open.js';
import { backoffMs, MAX_BACKOFF_MS } from '../../src/inbox/backoff.js';
import { installationJob } from '../../src/inbox/job.js';
import { createInbox } from '../../src/inbox/inbox.js';
import { acceptedDelivery, NOON, temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { until } from '../support/wait.js';

const DAY_MS = 86_400_000;

describe('backing off', () => {
  test('doubles up to 15 minutes, and is spread over the upper half', () => {
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
    const inbox = createInbox(ours);
    const stop = inbox.watch(() => {
      woken += 1;
    });
    onTestFinished(stop);
    inbox.raiseClaims(7);
    await new Promise(resolve => setTimeout(resolve, 100));
    expect(woken).toBe(0);
    createInbox(theirs).enqueue(installationJob('theirs', null, 'delivery'), NOON);
    await until(() => woken === 1, 'the poller to see the commit');
    inbox.enqueue(installationJob('ours', null, 'worker'), NOON);
    await until(() => woken === 2, 'the poller to see our own job');
    stop();
    createInbox(theirs).enqueue(installationJob('later', null, 'delivery'), NOON);
    await new Promise(resolve => setTimeout(resolve, 100));
    expect(woken).toBe(2);
  });
});

describe('pruning', () => {
  function filled() {
    const db = temporaryInbox();
    const inbox = createInbox(db);
    const text = (name: string) => ({
      signedData: name,
      digest: createHash('sha256').update(name).digest('hex'),
    });
    const arrive = (name: string, now: number) =>
      inbox.acceptDeliveries(
        [acceptedDelivery({ ...text(name), receivedAt: now, installationId: name, organizationId: name })],
        now,
      );
    arrive('old', NOON);
    arrive('repeated', NOON);
    const [done, other] = inbox.claimJobs({ now: NOON, leaseMs: 1000, slots: 2 });
    if (done === undefined || other === undefined) throw new Error('expected two claims');
    inbox.finishJob(done, 'read', NOON);
    inbox.buryJob(other, { code: 'broken', message: 'broken' }, NOON);
    arrive('repeated', NOON + 5 * DAY_MS);
    return { db, inbox };
  }

  test('removes what is older than the retention, and a text with its last delivery', () => {
    const { db, inbox } = filled();
    expect(inbox.prune(NOON + 10 * DAY_MS, 7)).toEqual({ deliveries: 2, signedTexts: 1, jobs: 1 });
    expect(inbox.prune(NOON + 10 * DAY_MS, 7)).toBeNull();
    expect(db.prepare('SELECT signed_data FROM signed_texts').pluck().all()).toEqual(['repeated']);
    expect(inbox.listDeliveries({})).toMatchObject([{ installation_id: 'repeated' }]);
    expect(inbox.countJobs()).toMatchObject({ ready: 1, buried: 1 });
    expect(inbox.prune(NOON + 20 * DAY_MS, 7)).toEqual({ deliveries: 1, signedTexts: 1, jobs: 0 });
    expect(inbox.countJobs()).toMatchObject({ ready: 1, buried: 1 });
  });

  test('keeps everything for ever at 0 days', () => {
    const { inbox } = filled();
    expect(inbox.prune(NOON + 10_000 * DAY_MS, 0)).toBeNull();
    expect(inbox.listDeliveries({})).toHaveLength(3);
  });

  test('goes in small batches', () => {
    const inbox = createInbox(temporaryInbox());
    inbox.acceptDeliveries(
      Array.from({ length: 1200 }, () => acceptedDelivery()),
      NOON,
    );
    const batches: number[] = [];
    const later = NOON + 100 * DAY_MS;
    for (let pruned = inbox.prune(later, 90); pruned !== null; pruned = inbox.prune(later, 90)) {
      batches.push(pruned.deliveries);
    }
    expect(batches).toEqual([500, 500, 200]);
  });
});

test('reports filter, limit and tell of a delivery what became of it', () => {
  const inbox = createInbox(temporaryInbox());
  inbox.acceptDeliveries(
    [
      acceptedDelivery({ installationId: 'a' }),
      acceptedDelivery({ installationId: 'b' }),
      acceptedDelivery({ installationId: null, verdict: 'set_aside', reason: 'not_json' }),
    ],
    NOON,
  );
  const [held] = inbox.claimJobs({ now: NOON, leaseMs: 1000, slots: 1 });
  if (held !== undefined) inbox.finishJob(held, 'read', NOON);
  expect(inbox.listDeliveries({ limit: 1 })).toMatchObject([{ reason: 'not_json', job_state: null }]);
  expect(inbox.listDeliveries({ installationId: 'a' })).toMatchObject([
    { job_state: 'done', job_outcome: 'read' },
  ]);
  expect(inbox.listDeliveries({ verdict: 'set_aside' })).toHaveLength(1);
  expect(inbox.listJobs({ installationId: 'b' })).toMatchObject([{ state: 'ready' }]);
  expect(inbox.findJob(99)).toBeNull();
  expect(inbox.readSignedText(99)).toBeNull();
  expect(inbox.hasDeliverySince('a', NOON, NOON)).toBe(true);
  expect(inbox.hasDeliverySince('a', NOON + 1, NOON + 2)).toBe(false);
  expect(inbox.hasDeliverySince('c', 0, NOON)).toBe(false);
  expect(inbox.hasDeliverySince('a', 0, NOON - 1)).toBe(false);
  expect(inbox.countJobs()).toEqual({
    ready: 1,
    claimed: 0,
    parked: 0,
    buried: 0,
    oldestRunAt: new Date(NOON).toISOString(),
  });
});
