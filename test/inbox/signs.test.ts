import { expect, test } from 'vitest';
import { createInbox } from '../../src/inbox/inbox.js';
import { createPulse, createSignOfLife } from '../../src/engines/sqlite/inbox/signs.js';
import type { LivingProcess } from '../../src/inbox/process.js';
import { acceptedDelivery, NOON, temporaryInbox } from '../support/inbox.js';

const HOUR = 3_600_000;
const WORKER: LivingProcess = { role: 'work', host: 'here', pid: 7, startedAt: NOON };

function scene() {
  const db = temporaryInbox();
  const rows = () => db.prepare('SELECT role, pid, seen_at FROM processes ORDER BY id').all();
  const living = () => db.prepare<[], number>('SELECT pid FROM processes ORDER BY pid').pluck().all();
  return { db, rows, living };
}

test('a process enters one row and touches it from then on', () => {
  const { db, rows } = scene();
  const sign = createSignOfLife(db);
  for (const at of [NOON, NOON + 15_000]) sign(WORKER, at);
  createSignOfLife(db)({ ...WORKER, role: 'receive', pid: 8 }, NOON);
  expect(rows()).toEqual([
    { role: 'work', pid: 7, seen_at: '2026-05-04T12:00:15.000Z' },
    { role: 'receive', pid: 8, seen_at: '2026-05-04T12:00:00.000Z' },
  ]);
});

test('after an older inbox was put back it enters a row anew, and never touches that of another', () => {
  const { db, rows } = scene();
  const sign = createSignOfLife(db);
  sign(WORKER, NOON);
  db.prepare('UPDATE processes SET pid = 99').run();
  sign(WORKER, NOON + 15_000);
  expect(rows()).toMatchObject([
    { pid: 99, seen_at: '2026-05-04T12:00:00.000Z' },
    { pid: 7, seen_at: '2026-05-04T12:00:15.000Z' },
  ]);
});

test('processes of an hour ago are removed, but for the last of each role', () => {
  const { db, living } = scene();
  const start = (pid: number, role: LivingProcess['role'], at: number) =>
    createSignOfLife(db)({ role, host: 'here', pid, startedAt: at }, at);
  start(1, 'work', NOON);
  start(2, 'work', NOON + 1);
  start(3, 'receive', NOON);
  start(4, 'receive', NOON + HOUR + 2);
  expect(living()).toEqual([2, 4]);
  start(5, 'work', NOON + 2 * HOUR);
  expect(living()).toEqual([4, 5]);
});

test('a worker has worked an inbox that it gave a sign to, and one whose jobs were ever claimed', () => {
  const { db } = scene();
  const everSeen = () => createPulse(db)(NOON).workerEverSeen;
  createSignOfLife(db)({ ...WORKER, role: 'receive' }, NOON);
  const inbox = createInbox(db);
  inbox.acceptDeliveries([acceptedDelivery()], NOON);
  expect(everSeen()).toBe(false);
  inbox.claimJobs({ now: NOON, leaseMs: 1000, slots: 1 });
  expect(everSeen()).toBe(true);
  const other = temporaryInbox();
  createSignOfLife(other)(WORKER, NOON);
  expect(createPulse(other)(NOON).workerEverSeen).toBe(true);
});

test('the pulse tells the last sign of each role and since when the oldest due job waits', () => {
  const { db } = scene();
  const pulse = createPulse(db);
  expect(pulse(NOON)).toEqual({ workerEverSeen: false, seenAt: {}, oldestDueAt: null });
  const sign = createSignOfLife(db);
  for (const at of [NOON, NOON + 15_000]) sign(WORKER, at);
  createSignOfLife(db)({ ...WORKER, role: 'receive' }, NOON + HOUR);
  const inbox = createInbox(db);
  inbox.acceptDeliveries([acceptedDelivery()], NOON + 1000);
  inbox.enqueue({ kind: 'tick', dedupeKey: 'later', trigger: 'schedule', runAt: NOON + HOUR }, NOON);
  expect(pulse(NOON + 20_000)).toMatchObject({
    seenAt: { work: NOON + 15_000 },
    oldestDueAt: NOON + 1000,
  });
});

test('what came between two instants comes oldest first, accepted alone, however many came at once', () => {
  const { db } = scene();
  const inbox = createInbox(db);
  const at = (receivedAt: number, over = {}) => acceptedDelivery({ receivedAt, ...over });
  const aside = { verdict: 'set_aside' as const, reason: 'another app' };
  inbox.acceptDeliveries([at(NOON + 3), at(NOON - 1), at(NOON), at(NOON + 1, aside)], NOON);
  const many = Array.from({ length: 4500 }, () => at(NOON + 2));
  inbox.acceptDeliveries(many, NOON);
  const iso = (ms: number) => new Date(NOON + ms).toISOString();
  const slices = [...inbox.deliveriesBetween(iso(0), iso(2))];
  expect(slices.length).toBeGreaterThan(2);
  expect(Math.max(...slices.map(slice => slice.length))).toBeLessThanOrEqual(2000);
  const instants = slices.flat().map(({ receivedAt }) => receivedAt);
  expect(instants).toEqual([iso(0), ...many.map(() => iso(2))]);
});
