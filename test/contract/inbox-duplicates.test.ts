import { describe, expect, test } from 'vitest';
import { type ClaimedJob, UNCHANGED_OUTCOME } from '../../src/inbox/job.js';
import {
  type Accept,
  type ArrivedDelivery,
  type TestInbox,
  createTestInbox,
  getOnly,
  listDeliverySlices,
  type InboxStore,
  acceptedDelivery,
  NOON,
} from '../support/inbox.js';
import { ENGINES } from '../support/mirror/open.js';
import { engineIndependent } from '../support/long.js';

const MINUTE_MS = 60_000;
const STEP_MS = 500;

interface ReplayResult {
  readonly starts: number[];
  readonly inbox: TestInbox;
}

/** Replays captured deliveries in rotation while a worker reads and finds nothing new, unless `found` says so; returns when reads started. */
async function replay(
  kept: InboxStore,
  accept: Accept,
  captured: readonly ArrivedDelivery[],
  { from = NOON, forMs = 3 * MINUTE_MS, found = (_start: number): boolean => false } = {},
): Promise<ReplayResult> {
  const inbox = createTestInbox(kept);
  const starts: number[] = [];
  let running: ClaimedJob[] = [];
  const work = async (now: number): Promise<void> => {
    for (const job of running) {
      const outcome = job.onlyDuplicates && !found(starts.length) ? UNCHANGED_OUTCOME : 'read';
      await inbox.finish(job, outcome, now);
    }
    running = await inbox.claim({ now, leaseMs: MINUTE_MS, slots: 4 });
    starts.push(...running.map(() => now));
  };
  for (let step = 0; step * STEP_MS < forMs; step += 1) {
    const receivedAt = from + step * STEP_MS;
    const delivery = captured[step % captured.length];
    if (delivery !== undefined) await accept([{ ...delivery, receivedAt }], receivedAt);
    await work(receivedAt + 1);
  }
  for (let now = from + forMs; now < from + forMs + 20_000; now += STEP_MS) await work(now);
  return { starts, inbox };
}

const createAccept = (kept: InboxStore): Accept => createTestInbox(kept).accept;

async function countRowsAndPosts({ db }: InboxStore): Promise<{ rows: number; posts: number }> {
  return getOnly(await db.rows('SELECT count(*) AS rows, sum(duplicates + 1) AS posts FROM deliveries'));
}

function createThreeDeliveries(): ArrivedDelivery[] {
  return Array.from({ length: 3 }, () => acceptedDelivery());
}

describe.each(ENGINES)('$name', ({ store }) => {
  test('T20 captured deliveries that are replayed forever are read less and less often, and share rows for a minute each', async () => {
    const kept = await store();
    const { starts, inbox } = await replay(kept, createAccept(kept), createThreeDeliveries());
    const end = NOON + 3 * MINUTE_MS;
    const inMinute = starts.map(start => starts.filter(at => at >= start && at < start + MINUTE_MS).length);
    expect(Math.max(...inMinute)).toBeLessThan(12);
    const gaps = [NOON, ...starts, end].map((at, index, all) => at - (all[index - 1] ?? NOON));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(16_000);
    expect(starts.at(-1)).toBeGreaterThan(end - STEP_MS);
    expect((await inbox.at(0).countJobs()).waiting).toBe(0);
    const { rows, posts } = await countRowsAndPosts(kept);
    expect(posts).toBe((3 * MINUTE_MS) / STEP_MS);
    expect(rows).toBeLessThan(90);
  });

  engineIndependent.test(
    'T20 the pace slows from one second to fifteen, and starts again when a read finds a change',
    async () => {
      const kept = await store();
      const found = (starts: number): boolean => starts === 10;
      const { starts } = await replay(kept, createAccept(kept), [acceptedDelivery()], { found });
      const gaps = starts.slice(1).map((start, index) => Math.round((start - (starts[index] ?? 0)) / 1000));
      expect(gaps.slice(0, 9)).toEqual([1, 1, 2, 4, 8, 15, 15, 15, 15]);
      const anew = gaps.slice(9);
      expect(Math.min(...anew)).toBe(1);
      expect(anew.at(-1)).toBeLessThanOrEqual(20);
      expect(anew.filter(gap => gap === 15).length).toBeGreaterThanOrEqual(2);
    },
  );

  test('T20 a new delivery among duplicates is read at once, and so is one last seen over an hour ago', async () => {
    const kept = await store();
    const inbox = createTestInbox(kept);
    const accept = createAccept(kept);
    const captured = acceptedDelivery();
    await replay(kept, accept, [captured], { forMs: MINUTE_MS });
    const now = NOON + 2 * MINUTE_MS;
    await accept([{ ...captured, receivedAt: now }], now);
    const [read] = await inbox.claim({ now: now + 1, leaseMs: MINUTE_MS, slots: 4 });
    if (read !== undefined) await inbox.finish(read, UNCHANGED_OUTCOME, now + 100);
    const [slow] = await accept([{ ...captured, receivedAt: now + 200 }], now + 200);
    expect(await inbox.claim({ now: now + 5000, leaseMs: MINUTE_MS, slots: 4 })).toEqual([]);
    const [fresh] = await accept([acceptedDelivery({ receivedAt: now + 5000 })], now + 5000);
    expect(fresh?.jobId).toBe(slow?.jobId);
    const claimed = await inbox.claim({ now: now + 5000, leaseMs: MINUTE_MS, slots: 4 });
    expect(claimed).toMatchObject([{ id: slow?.jobId, onlyDuplicates: false }]);
    for (const job of claimed) await inbox.finish(job, 'read', now + 5100);
    const later = now + 5000 + 3_600_001;
    await accept([{ ...captured, receivedAt: later }], later);
    expect(await inbox.claim({ now: later, leaseMs: MINUTE_MS, slots: 4 })).toMatchObject([
      { onlyDuplicates: false },
    ]);
  });

  test('T20 jobs of the schedule or a person do not speed duplicates up, and duplicates do not slow them down', async () => {
    const kept = await store();
    const inbox = createTestInbox(kept);
    const accept = createAccept(kept);
    const captured = acceptedDelivery();
    await replay(kept, accept, [captured], { forMs: MINUTE_MS });
    const now = NOON + 90_000;
    const claim = (at: number) => inbox.claim({ now: at, leaseMs: MINUTE_MS, slots: 4 });
    await accept([{ ...captured, receivedAt: now }], now);
    for (const job of await claim(now)) await inbox.finish(job, UNCHANGED_OUTCOME, now);
    const job = {
      kind: 'installation',
      dedupeKey: 'installation:installation-1',
      installationId: 'installation-1',
    };
    await inbox.enqueue({ ...job, trigger: 'schedule', startDelayMs: 10 * MINUTE_MS }, now);
    await accept([{ ...captured, receivedAt: now + 1 }], now + 1);
    expect(await claim(now + 14_000)).toEqual([]);
    const [read] = await claim(now + 15_000);
    expect(read).toMatchObject({ onlyDuplicates: true, trigger: 'delivery' });
    if (read !== undefined) await inbox.finish(read, UNCHANGED_OUTCOME, now + 15_000);
    await accept([{ ...captured, receivedAt: now + 16_000 }], now + 16_000);
    await inbox.enqueue({ ...job, trigger: 'person' }, now + 17_000);
    expect(await claim(now + 17_000)).toMatchObject([{ onlyDuplicates: false }]);
  });

  test('T20 duplicates do not bring paused or retried jobs forward', async () => {
    const kept = await store();
    const inbox = createTestInbox(kept);
    const accept = createAccept(kept);
    const captured = acceptedDelivery();
    const claim = (at: number) => inbox.claim({ now: at, leaseMs: MINUTE_MS, slots: 4 });
    await accept([captured], NOON);
    for (const job of await claim(NOON)) {
      await inbox.pause(job, NOON + 10 * MINUTE_MS, { code: 'unauthorized', message: 'answered 401' }, NOON);
    }
    await accept([{ ...captured, receivedAt: NOON + 5000 }], NOON + 5000);
    expect(await claim(NOON + 9 * MINUTE_MS)).toEqual([]);
    for (const job of await claim(NOON + 10 * MINUTE_MS)) {
      await inbox.retry(
        job,
        NOON + 20 * MINUTE_MS,
        { code: 'unavailable', message: '503' },
        NOON + 10 * MINUTE_MS,
      );
    }
    const at = NOON + 11 * MINUTE_MS;
    await accept([{ ...captured, receivedAt: at }], at);
    expect(await claim(NOON + 19 * MINUTE_MS)).toEqual([]);
    expect(await claim(NOON + 20 * MINUTE_MS)).toHaveLength(1);
  });

  test('T20 a shared row records the first and the last duplicate, and the first one that no read has answered', async () => {
    const kept = await store();
    const inbox = createTestInbox(kept);
    const accept = createAccept(kept);
    const captured = acceptedDelivery();
    const iso = (at: number): string => new Date(at).toISOString();
    const post = (at: number, overrides: Partial<ArrivedDelivery> = {}) =>
      accept([{ ...captured, receivedAt: at, ...overrides }], at);
    await post(NOON);
    await post(NOON + 10);
    const [read] = await inbox.claim({ now: NOON + 20, leaseMs: MINUTE_MS, slots: 4 });
    if (read !== undefined)
      await inbox.retry(read, NOON + 30, { code: 'unavailable', message: '503' }, NOON + 25);
    await post(NOON + 40, { contradictedFields: 'event' });
    await post(NOON + 50);
    expect(await kept.db.rows('SELECT * FROM deliveries')).toMatchObject([
      {
        duplicates: 3,
        received_at: iso(NOON),
        last_duplicate_at: iso(NOON + 50),
        unread_duplicate_at: iso(NOON + 40),
        contradicted_fields: 'event',
      },
    ]);
    const listArrivals = async (since: number, until: number): Promise<string[]> => {
      const slices = await listDeliverySlices(inbox, { since: iso(since), until: iso(until), afterId: 0 });
      return slices.flat().map(({ receivedAt }) => receivedAt);
    };
    expect(await listArrivals(NOON, NOON + MINUTE_MS)).toEqual([iso(NOON), iso(NOON + 40)]);
    expect(await listArrivals(NOON + 20, NOON + MINUTE_MS)).toEqual([iso(NOON + 40)]);
    const queries = [{ since: NOON + 50 }, { since: NOON + 51 }, { since: NOON + 1, isNew: true }];
    expect(await inbox.at(NOON + 60).haveDeliveriesArrived('installation-1', queries)).toEqual([
      true,
      false,
      false,
    ]);
    await post(NOON + MINUTE_MS);
    expect(await countRowsAndPosts(kept)).toEqual({ rows: 2, posts: 5 });
  });

  test('T20 a read between two arrivals of one text answers only the first', async () => {
    const kept = await store();
    const inbox = createTestInbox(kept);
    const accept = createAccept(kept);
    await accept([{ ...acceptedDelivery({ signedData: 'earlier' }), receivedAt: NOON }], NOON);
    const [read] = await inbox.claim({ now: NOON + 20, leaseMs: MINUTE_MS, slots: 4 });
    if (read !== undefined)
      await inbox.retry(read, NOON + 30, { code: 'unavailable', message: '503' }, NOON + 25);
    const twice = acceptedDelivery();
    await accept(
      [NOON + 10, NOON + 40].map(receivedAt => ({ ...twice, receivedAt })),
      NOON + 50,
    );
    const [, folded] = await kept.db.rows('SELECT * FROM deliveries ORDER BY id');
    expect(folded).toMatchObject({ duplicates: 1, unread_duplicate_at: new Date(NOON + 40).toISOString() });
  });

  test('T20 ignored duplicates share a row for a minute too, unless another secret signed them', async () => {
    const kept = await store();
    const accept = createAccept(kept);
    const ignored = acceptedDelivery({ verdict: 'ignored', reason: 'other_app' });
    for (let at = NOON; at < NOON + 2 * MINUTE_MS; at += 1000)
      await accept([{ ...ignored, receivedAt: at }], at);
    await accept([{ ...ignored, secretIndex: 1, receivedAt: NOON + 119_000 }], NOON + 119_000);
    expect(await countRowsAndPosts(kept)).toEqual({ rows: 3, posts: 121 });
  });
});
