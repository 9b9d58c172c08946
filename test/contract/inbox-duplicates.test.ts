import { describe, expect, test } from 'vitest';
import { type ClaimedJob, UNCHANGED_OUTCOME } from '../../src/inbox/job.js';
import {
  type Accept,
  type Arrived,
  type Box,
  boxIn,
  only,
  slicesOf,
  type Store,
  acceptedDelivery,
  NOON,
} from '../support/inbox.js';
import { ENGINES } from '../support/mirror/open.js';
import { filesEnough } from '../support/long.js';

const MINUTE_MS = 60_000;
const STEP_MS = 500;

interface Played {
  readonly starts: number[];
  readonly inbox: Box;
}

/** A worker that finds nothing new, while captured deliveries come again in rotation. */
async function replay(
  kept: Store,
  accept: Accept,
  captured: readonly Arrived[],
  { from = NOON, forMs = 3 * MINUTE_MS, found = (_start: number): boolean => false } = {},
): Promise<Played> {
  const inbox = boxIn(kept);
  const starts: number[] = [];
  let running: ClaimedJob[] = [];
  const work = async (now: number): Promise<void> => {
    for (const job of running) {
      const word = job.onlyDuplicates && !found(starts.length) ? UNCHANGED_OUTCOME : 'read';
      await inbox.finish(job, word, now);
    }
    running = await inbox.claim({ now, leaseMs: MINUTE_MS, slots: 4 });
    starts.push(...running.map(() => now));
  };
  for (let step = 0; step * STEP_MS < forMs; step += 1) {
    const receivedAt = from + step * STEP_MS;
    const one = captured[step % captured.length];
    if (one !== undefined) await accept([{ ...one, receivedAt }], receivedAt);
    await work(receivedAt + 1);
  }
  for (let now = from + forMs; now < from + forMs + 20_000; now += STEP_MS) await work(now);
  return { starts, inbox };
}

const acceptIn = (kept: Store): Accept => boxIn(kept).accept;

async function rowsAndPosts({ db }: Store): Promise<{ rows: number; posts: number }> {
  return only(await db.rows('SELECT count(*) AS rows, sum(duplicates + 1) AS posts FROM deliveries'));
}

function three(): Arrived[] {
  return Array.from({ length: 3 }, () => acceptedDelivery());
}

describe.each(ENGINES)('$name', ({ store }) => {
  describe('captured deliveries that come again for ever', () => {
    type Create = (kept: Store) => Accept;

    /** Fewer than 12 reads in any minute, never 16 s without one, one after the last post; each post counted, in few rows. */
    async function keepsTheLaw(create: Create): Promise<boolean> {
      const kept = await store();
      const { starts, inbox } = await replay(kept, create(kept), three());
      const end = NOON + 3 * MINUTE_MS;
      const inMinute = starts.map(start => starts.filter(at => at >= start && at < start + MINUTE_MS).length);
      const gaps = [NOON, ...starts, end].map((at, index, all) => at - (all[index - 1] ?? NOON));
      const { rows, posts } = await rowsAndPosts(kept);
      const { waiting } = await inbox.at(0).countJobs();
      return (
        Math.max(...inMinute) < 12 &&
        Math.max(...gaps) <= 16_000 &&
        (starts.at(-1) ?? 0) > end - STEP_MS &&
        waiting === 0 &&
        posts === (3 * MINUTE_MS) / STEP_MS &&
        rows < 90
      );
    }

    const broken: Record<string, Create> = {
      'that takes each duplicate for something new': kept => {
        const forget = "UPDATE signed_texts SET last_received_at = '2000-01-01T00:00:00.000Z'";
        return async (deliveries, now) => {
          await kept.db.change(forget);
          return acceptIn(kept)(deliveries, now);
        };
      },
      'that knows a duplicate and asks for nothing': kept => {
        const accept = acceptIn(kept);
        const seen = new Map<string, ReturnType<Accept>>();
        return (deliveries, now) => {
          const sha256 = deliveries[0]?.sha256 ?? '';
          const stored = seen.get(sha256) ?? accept(deliveries, now);
          seen.set(sha256, stored);
          return stored;
        };
      },
      'that gives each duplicate a row': kept => (deliveries, now) => acceptIn(kept)(deliveries, now),
      'that has a pace for each text alone': kept => {
        const accept = acceptIn(kept);
        return (deliveries, now) =>
          accept(
            deliveries.map(each => ({ ...each, installationId: `of ${each.sha256}`, organizationId: null })),
            now,
          );
      },
    };

    test('T20 are read ever more seldom, and in a row a minute each at least', async () => {
      expect(await keepsTheLaw(acceptIn)).toBe(true);
    });

    filesEnough.test.each(Object.entries(broken))(
      'T20 an inbox %s breaks that law',
      async (_title, create) => {
        expect(await keepsTheLaw(create)).toBe(false);
      },
    );
  });

  filesEnough.test(
    'T20 the pace grows from one second to fifteen, and a change that is found begins it anew',
    async () => {
      const kept = await store();
      const found = (starts: number): boolean => starts === 10;
      const { starts } = await replay(kept, acceptIn(kept), [acceptedDelivery()], { found });
      const gaps = starts.slice(1).map((start, index) => Math.round((start - (starts[index] ?? 0)) / 1000));
      expect(gaps.slice(0, 9)).toEqual([1, 1, 2, 4, 8, 15, 15, 15, 15]);
      const anew = gaps.slice(9);
      expect(Math.min(...anew)).toBe(1);
      expect(anew.at(-1)).toBeLessThanOrEqual(20);
      expect(anew.filter(gap => gap === 15).length).toBeGreaterThanOrEqual(2);
    },
  );

  test('T20 a new delivery is read at once among them, and so is one that had not come for an hour', async () => {
    const kept = await store();
    const inbox = boxIn(kept);
    const accept = acceptIn(kept);
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

  test('T20 the schedule and a person neither speed duplicates up nor are slowed down by them', async () => {
    const kept = await store();
    const inbox = boxIn(kept);
    const accept = acceptIn(kept);
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

  test('T20 duplicates leave a paused job and one that failed to their time', async () => {
    const kept = await store();
    const inbox = boxIn(kept);
    const accept = acceptIn(kept);
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

  test('T20 a folded row says when it came first and last, and the first that no read has answered', async () => {
    const kept = await store();
    const inbox = boxIn(kept);
    const accept = acceptIn(kept);
    const captured = acceptedDelivery();
    const iso = (at: number): string => new Date(at).toISOString();
    const post = (at: number, more: Partial<Arrived> = {}) =>
      accept([{ ...captured, receivedAt: at, ...more }], at);
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
    const between = async (from: number, until: number): Promise<string[]> => {
      const slices = await slicesOf(inbox, { from: iso(from), until: iso(until), above: 0 });
      return slices.flat().map(({ receivedAt }) => receivedAt);
    };
    expect(await between(NOON, NOON + MINUTE_MS)).toEqual([iso(NOON), iso(NOON + 40)]);
    expect(await between(NOON + 20, NOON + MINUTE_MS)).toEqual([iso(NOON + 40)]);
    const since = [{ since: NOON + 50 }, { since: NOON + 51 }, { since: NOON + 1, isNew: true }];
    expect(await inbox.at(NOON + 60).haveDeliveriesArrived('installation-1', since)).toEqual([
      true,
      false,
      false,
    ]);
    await post(NOON + MINUTE_MS);
    expect(await rowsAndPosts(kept)).toEqual({ rows: 2, posts: 5 });
  });

  test('T20 of a new text that came twice in one group, a read between the two answers the first alone', async () => {
    const kept = await store();
    const inbox = boxIn(kept);
    const accept = acceptIn(kept);
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

  test('T20 duplicates of what was ignored share a row a minute too, one signed by another secret does not', async () => {
    const kept = await store();
    const accept = acceptIn(kept);
    const aside = acceptedDelivery({ verdict: 'ignored', reason: 'other_app' });
    for (let at = NOON; at < NOON + 2 * MINUTE_MS; at += 1000)
      await accept([{ ...aside, receivedAt: at }], at);
    await accept([{ ...aside, secretIndex: 1, receivedAt: NOON + 119_000 }], NOON + 119_000);
    expect(await rowsAndPosts(kept)).toEqual({ rows: 3, posts: 121 });
  });
});
