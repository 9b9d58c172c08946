import { expect, test } from 'vitest';
import type { Sqlite } from '../../src/engines/sqlite/open.js';
import { boxOf, slicesOf } from '../support/box.js';
import type { LivingProcess, Pulse } from '../../src/inbox/process.js';
import { acceptedDelivery, NOON, temporaryInbox } from '../support/inbox.js';

const HOUR = 3_600_000;
const WORKER: LivingProcess = { role: 'work', host: 'here', pid: 7, startedAt: NOON };

function scene() {
  const db = temporaryInbox();
  const rows = () => db.prepare('SELECT role, pid, seen_at FROM processes ORDER BY id').all();
  const living = () => db.prepare<[], number>('SELECT pid FROM processes ORDER BY pid').pluck().all();
  return { db, rows, living };
}

/** As one process gives them. */
function signer(db: Sqlite): (self: LivingProcess, now: number) => Promise<Pulse> {
  const { at } = boxOf(db);
  return (self, now) => at(now).signOfLife(self);
}

test('a process enters one row and touches it from then on', async () => {
  const { db, rows } = scene();
  const sign = signer(db);
  for (const at of [NOON, NOON + 15_000]) await sign(WORKER, at);
  await signer(db)({ ...WORKER, role: 'receive', pid: 8 }, NOON);
  expect(rows()).toEqual([
    { role: 'work', pid: 7, seen_at: '2026-05-04T12:00:15.000Z' },
    { role: 'receive', pid: 8, seen_at: '2026-05-04T12:00:00.000Z' },
  ]);
});

test('after an older inbox was put back it enters a row anew, and never touches that of another', async () => {
  const { db, rows } = scene();
  const sign = signer(db);
  await sign(WORKER, NOON);
  db.prepare('UPDATE processes SET pid = 99').run();
  await sign(WORKER, NOON + 15_000);
  expect(rows()).toMatchObject([
    { pid: 99, seen_at: '2026-05-04T12:00:00.000Z' },
    { pid: 7, seen_at: '2026-05-04T12:00:15.000Z' },
  ]);
});

test('processes of an hour ago are removed, but for the last of each role', async () => {
  const { db, living } = scene();
  const start = (pid: number, role: LivingProcess['role'], at: number) =>
    signer(db)({ role, host: 'here', pid, startedAt: at }, at);
  await start(1, 'work', NOON);
  await start(2, 'work', NOON + 1);
  await start(3, 'receive', NOON);
  await start(4, 'receive', NOON + HOUR + 2);
  expect(living()).toEqual([2, 4]);
  await start(5, 'work', NOON + 2 * HOUR);
  expect(living()).toEqual([4, 5]);
});

test('a worker has worked an inbox that it gave a sign to, and one whose jobs were ever claimed', async () => {
  const { db } = scene();
  const everSeen = async () => (await boxOf(db).at(NOON).readPulse()).workerEverSeen;
  await signer(db)({ ...WORKER, role: 'receive' }, NOON);
  const inbox = boxOf(db);
  await inbox.accept([acceptedDelivery()], NOON);
  expect(await everSeen()).toBe(false);
  await inbox.claim({ now: NOON, leaseMs: 1000, slots: 1 });
  expect(await everSeen()).toBe(true);
  const other = temporaryInbox();
  expect(await signer(other)(WORKER, NOON)).toMatchObject({ workerEverSeen: true });
});

test('the pulse tells the last sign of each role and since when the oldest due job waits', async () => {
  const { db } = scene();
  const inbox = boxOf(db);
  expect(await inbox.at(NOON).readPulse()).toEqual({
    at: NOON,
    workerEverSeen: false,
    seenAt: {},
    oldestDueAt: null,
  });
  const sign = signer(db);
  for (const at of [NOON, NOON + 15_000]) await sign(WORKER, at);
  await signer(db)({ ...WORKER, role: 'receive' }, NOON + HOUR);
  await inbox.accept([acceptedDelivery()], NOON + 1000);
  await inbox.enqueue({ kind: 'tick', dedupeKey: 'later', trigger: 'schedule', startInMs: HOUR }, NOON);
  expect(await inbox.at(NOON + 20_000).readPulse()).toMatchObject({
    at: NOON + 20_000,
    seenAt: { work: NOON + 15_000 },
    oldestDueAt: NOON + 1000,
  });
});

test('what came between two instants comes oldest first, accepted alone, however many came at once', async () => {
  const { db } = scene();
  const inbox = boxOf(db);
  const at = (receivedAt: number, over = {}) => acceptedDelivery({ receivedAt, ...over });
  const aside = { verdict: 'set_aside' as const, reason: 'another app' };
  await inbox.accept([at(NOON + 3), at(NOON - 1), at(NOON), at(NOON + 1, aside)], NOON);
  const many = Array.from({ length: 4500 }, () => at(NOON + 2));
  await inbox.accept(many, NOON);
  const iso = (ms: number) => new Date(NOON + ms).toISOString();
  const slices = await slicesOf(inbox, { from: iso(0), until: iso(2), above: 0 });
  expect(slices.length).toBeGreaterThan(2);
  expect(Math.max(...slices.map(slice => slice.length))).toBeLessThanOrEqual(2000);
  const instants = slices.flat().map(({ receivedAt }) => receivedAt);
  expect(instants).toEqual([iso(0), ...many.map(() => iso(2))]);
});
