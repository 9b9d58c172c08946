import { describe, expect, test } from 'vitest';
import type { Sqlite } from '../../src/engines/sqlite/open.js';
import { type AcceptDeliveries, createAcceptDeliveries } from '../../src/engines/sqlite/inbox/deliveries.js';
import type { NewDelivery } from '../../src/inbox/delivery.js';
import { UNCHANGED } from '../../src/inbox/job.js';
import { createInbox, type Inbox } from '../../src/inbox/inbox.js';
import { acceptedDelivery, NOON, temporaryInbox } from '../support/inbox.js';

const MINUTE_MS = 60_000;
const STEP_MS = 500;

interface Played {
  readonly starts: number[];
  readonly inbox: Inbox;
}

/** A worker that finds nothing new, while captured deliveries come again in rotation. */
function replay(
  db: Sqlite,
  accept: AcceptDeliveries,
  captured: readonly NewDelivery[],
  { from = NOON, forMs = 3 * MINUTE_MS, found = (_start: number): boolean => false } = {},
): Played {
  const inbox = createInbox(db);
  const starts: number[] = [];
  let running: ReturnType<Inbox['claimJobs']> = [];
  const work = (now: number): void => {
    for (const job of running) {
      const word = job.repeatsOnly && !found(starts.length) ? UNCHANGED : 'read';
      inbox.finishJob(job, word, now);
    }
    running = inbox.claimJobs({ now, leaseMs: MINUTE_MS, slots: 4 });
    starts.push(...running.map(() => now));
  };
  for (let step = 0; step * STEP_MS < forMs; step += 1) {
    const receivedAt = from + step * STEP_MS;
    const one = captured[step % captured.length];
    if (one !== undefined) accept([{ ...one, receivedAt }], receivedAt);
    work(receivedAt + 1);
  }
  for (let now = from + forMs; now < from + forMs + 20_000; now += STEP_MS) work(now);
  return { starts, inbox };
}

function rowsAndPosts(db: Sqlite): unknown {
  return db.prepare('SELECT count(*) AS rows, sum(repeats + 1) AS posts FROM deliveries').get();
}

function three(): NewDelivery[] {
  return Array.from({ length: 3 }, () => acceptedDelivery());
}

describe('captured deliveries that come again for ever', () => {
  type Create = (db: Sqlite) => AcceptDeliveries;

  /** Fewer than 12 reads in any minute, never 16 s without one, one after the last post; each post counted, in few rows. */
  function keepsTheLaw(create: Create): boolean {
    const db = temporaryInbox();
    const { starts, inbox } = replay(db, create(db), three());
    const end = NOON + 3 * MINUTE_MS;
    const inMinute = starts.map(start => starts.filter(at => at >= start && at < start + MINUTE_MS).length);
    const gaps = [NOON, ...starts, end].map((at, index, all) => at - (all[index - 1] ?? NOON));
    const { rows, posts } = db
      .prepare<[], { rows: number; posts: number }>(
        'SELECT count(*) AS rows, sum(repeats + 1) AS posts FROM deliveries',
      )
      .get() ?? { rows: 0, posts: 0 };
    return (
      Math.max(...inMinute) < 12 &&
      Math.max(...gaps) <= 16_000 &&
      (starts.at(-1) ?? 0) > end - STEP_MS &&
      inbox.countJobs().ready === 0 &&
      posts === (3 * MINUTE_MS) / STEP_MS &&
      rows < 90
    );
  }

  const broken: Record<string, Create> = {
    'that takes each repeat for something new': db => {
      const forget = db.prepare("UPDATE signed_texts SET last_received_at = '2000-01-01T00:00:00.000Z'");
      return (deliveries, now) => {
        forget.run();
        return createAcceptDeliveries(db)(deliveries, now);
      };
    },
    'that knows a repeat and asks for nothing': db => {
      const accept = createAcceptDeliveries(db);
      const seen = new Map<string, ReturnType<AcceptDeliveries>>();
      return (deliveries, now) => {
        const digest = deliveries[0]?.digest ?? '';
        const stored = seen.get(digest) ?? accept(deliveries, now);
        seen.set(digest, stored);
        return stored;
      };
    },
    'that gives each repeat a row': db => (deliveries, now) => createAcceptDeliveries(db)(deliveries, now),
    'that has a pace for each text alone': db => {
      const accept = createAcceptDeliveries(db);
      return (deliveries, now) =>
        accept(
          deliveries.map(each => ({ ...each, installationId: `of ${each.digest}`, organizationId: null })),
          now,
        );
    },
  };

  test('T20 are read ever more seldom, and in a row a minute each at least', () => {
    expect(keepsTheLaw(createAcceptDeliveries)).toBe(true);
  });

  test.each(Object.entries(broken))('T20 an inbox %s breaks that law', (_title, create) => {
    expect(keepsTheLaw(create)).toBe(false);
  });
});

test('T20 the pace grows from one second to fifteen, and a change that is found begins it anew', () => {
  const db = temporaryInbox();
  const found = (starts: number): boolean => starts === 10;
  const { starts } = replay(db, createAcceptDeliveries(db), [acceptedDelivery()], { found });
  const gaps = starts.slice(1).map((start, index) => Math.round((start - (starts[index] ?? 0)) / 1000));
  expect(gaps.slice(0, 9)).toEqual([1, 1, 2, 4, 8, 15, 15, 15, 15]);
  const anew = gaps.slice(9);
  expect(Math.min(...anew)).toBe(1);
  expect(anew.at(-1)).toBeLessThanOrEqual(20);
  expect(anew.filter(gap => gap === 15).length).toBeGreaterThanOrEqual(2);
});

test('T20 a new delivery is read at once among them, and so is one that had not come for an hour', () => {
  const db = temporaryInbox();
  const inbox = createInbox(db);
  const accept = createAcceptDeliveries(db);
  const captured = acceptedDelivery();
  replay(db, accept, [captured], { forMs: MINUTE_MS });
  const now = NOON + 2 * MINUTE_MS;
  accept([{ ...captured, receivedAt: now }], now);
  const [read] = inbox.claimJobs({ now: now + 1, leaseMs: MINUTE_MS, slots: 4 });
  if (read !== undefined) inbox.finishJob(read, UNCHANGED, now + 100);
  const [slow] = accept([{ ...captured, receivedAt: now + 200 }], now + 200);
  expect(inbox.claimJobs({ now: now + 5000, leaseMs: MINUTE_MS, slots: 4 })).toEqual([]);
  const [fresh] = accept([acceptedDelivery({ receivedAt: now + 5000 })], now + 5000);
  expect(fresh?.jobId).toBe(slow?.jobId);
  const claimed = inbox.claimJobs({ now: now + 5000, leaseMs: MINUTE_MS, slots: 4 });
  expect(claimed).toMatchObject([{ id: slow?.jobId, repeatsOnly: false }]);
  for (const job of claimed) inbox.finishJob(job, 'read', now + 5100);
  const later = now + 5000 + 3_600_001;
  accept([{ ...captured, receivedAt: later }], later);
  expect(inbox.claimJobs({ now: later, leaseMs: MINUTE_MS, slots: 4 })).toMatchObject([
    { repeatsOnly: false },
  ]);
});

test('T20 the schedule and a person neither speed repeats up nor are slowed down by them', () => {
  const db = temporaryInbox();
  const inbox = createInbox(db);
  const accept = createAcceptDeliveries(db);
  const captured = acceptedDelivery();
  replay(db, accept, [captured], { forMs: MINUTE_MS });
  const now = NOON + 90_000;
  const claim = (at: number) => inbox.claimJobs({ now: at, leaseMs: MINUTE_MS, slots: 4 });
  accept([{ ...captured, receivedAt: now }], now);
  for (const job of claim(now)) inbox.finishJob(job, UNCHANGED, now);
  const job = {
    kind: 'installation',
    dedupeKey: 'installation:installation-1',
    installationId: 'installation-1',
  };
  inbox.enqueue({ ...job, trigger: 'schedule', runAt: now + 10 * MINUTE_MS }, now);
  accept([{ ...captured, receivedAt: now + 1 }], now + 1);
  expect(claim(now + 14_000)).toEqual([]);
  const [read] = claim(now + 15_000);
  expect(read).toMatchObject({ repeatsOnly: true, trigger: 'delivery' });
  if (read !== undefined) inbox.finishJob(read, UNCHANGED, now + 15_000);
  accept([{ ...captured, receivedAt: now + 16_000 }], now + 16_000);
  inbox.enqueue({ ...job, trigger: 'person' }, now + 17_000);
  expect(claim(now + 17_000)).toMatchObject([{ repeatsOnly: false }]);
});

test('T20 repeats leave a parked job and one that failed to their time', () => {
  const db = temporaryInbox();
  const inbox = createInbox(db);
  const accept = createAcceptDeliveries(db);
  const captured = acceptedDelivery();
  const claim = (at: number) => inbox.claimJobs({ now: at, leaseMs: MINUTE_MS, slots: 4 });
  accept([captured], NOON);
  for (const job of claim(NOON)) {
    inbox.parkJob(job, NOON + 10 * MINUTE_MS, { code: 'unauthorized', message: 'answered 401' }, NOON);
  }
  accept([{ ...captured, receivedAt: NOON + 5000 }], NOON + 5000);
  expect(claim(NOON + 9 * MINUTE_MS)).toEqual([]);
  for (const job of claim(NOON + 10 * MINUTE_MS)) {
    inbox.retryJob(
      job,
      NOON + 20 * MINUTE_MS,
      { code: 'unavailable', message: '503' },
      NOON + 10 * MINUTE_MS,
    );
  }
  const at = NOON + 11 * MINUTE_MS;
  accept([{ ...captured, receivedAt: at }], at);
  expect(claim(NOON + 19 * MINUTE_MS)).toEqual([]);
  expect(claim(NOON + 20 * MINUTE_MS)).toHaveLength(1);
});

test('T20 a folded row says when it came first and last, and the first that no read has answered', () => {
  const db = temporaryInbox();
  const inbox = createInbox(db);
  const accept = createAcceptDeliveries(db);
  const captured = acceptedDelivery();
  const iso = (at: number): string => new Date(at).toISOString();
  const post = (at: number, more: Partial<NewDelivery> = {}) =>
    accept([{ ...captured, receivedAt: at, ...more }], at);
  post(NOON);
  post(NOON + 10);
  const [read] = inbox.claimJobs({ now: NOON + 20, leaseMs: MINUTE_MS, slots: 4 });
  if (read !== undefined) inbox.retryJob(read, NOON + 30, { code: 'unavailable', message: '503' }, NOON + 25);
  post(NOON + 40, { outerMismatch: 'event' });
  post(NOON + 50);
  expect(inbox.listDeliveries({})).toMatchObject([
    {
      repeats: 3,
      received_at: iso(NOON),
      last_received_at: iso(NOON + 50),
      unread_at: iso(NOON + 40),
      outer_mismatch: 'event',
    },
  ]);
  const between = (from: number, until: number): string[] =>
    [...inbox.deliveriesBetween(iso(from), iso(until))].flat().map(({ receivedAt }) => receivedAt);
  expect(between(NOON, NOON + MINUTE_MS)).toEqual([iso(NOON), iso(NOON + 40)]);
  expect(between(NOON + 20, NOON + MINUTE_MS)).toEqual([iso(NOON + 40)]);
  expect(inbox.hasDeliverySince('installation-1', NOON + 50, NOON + 60)).toBe(true);
  expect(inbox.hasDeliverySince('installation-1', NOON + 51, NOON + 60)).toBe(false);
  expect(inbox.hasNewDeliverySince('installation-1', NOON + 1, NOON + 60)).toBe(false);
  post(NOON + MINUTE_MS);
  expect(rowsAndPosts(db)).toEqual({ rows: 2, posts: 5 });
});

test('T20 repeats of what was set aside share a row a minute too, one signed by another secret does not', () => {
  const db = temporaryInbox();
  const accept = createAcceptDeliveries(db);
  const aside = acceptedDelivery({ verdict: 'set_aside', reason: 'other_app' });
  for (let at = NOON; at < NOON + 2 * MINUTE_MS; at += 1000) accept([{ ...aside, receivedAt: at }], at);
  accept([{ ...aside, secretIndex: 1, receivedAt: NOON + 119_000 }], NOON + 119_000);
  expect(rowsAndPosts(db)).toEqual({ rows: 3, posts: 121 });
});
