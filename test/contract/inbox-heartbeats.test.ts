import { describe, expect, test } from 'vitest';
import { boxIn, slicesOf, type Store, acceptedDelivery, NOON } from '../support/inbox.js';
import { ENGINES } from '../support/mirror/open.js';
import type { LivingProcess, InboxPulse } from '../../src/inbox/process.js';

const HOUR = 3_600_000;
const WORKER: LivingProcess = { role: 'work', host: 'here', pid: 7, startedAt: NOON };

/** As one process gives them. */
function signer(kept: Store): (self: LivingProcess, now: number) => Promise<InboxPulse> {
  const { at } = boxIn(kept);
  return (self, now) => at(now).heartbeat(self);
}

describe.each(ENGINES)('$name', ({ store }) => {
  async function scene() {
    const kept = await store();
    const rows = () => kept.db.rows('SELECT role, pid, seen_at FROM processes ORDER BY id');
    const living = () => kept.db.column<number>('SELECT pid FROM processes ORDER BY pid');
    return { kept, rows, living };
  }

  test('a process enters one row and touches it from then on', async () => {
    const { kept, rows } = await scene();
    const sign = signer(kept);
    for (const at of [NOON, NOON + 15_000]) await sign(WORKER, at);
    await signer(kept)({ ...WORKER, role: 'receive', pid: 8 }, NOON);
    expect(await rows()).toEqual([
      { role: 'work', pid: 7, seen_at: '2026-05-04T12:00:15.000Z' },
      { role: 'receive', pid: 8, seen_at: '2026-05-04T12:00:00.000Z' },
    ]);
  });

  test('after an older inbox was put back it enters a row anew, and never touches that of another', async () => {
    const { kept, rows } = await scene();
    const sign = signer(kept);
    await sign(WORKER, NOON);
    await kept.db.change('UPDATE processes SET pid = 99');
    await sign(WORKER, NOON + 15_000);
    expect(await rows()).toMatchObject([
      { pid: 99, seen_at: '2026-05-04T12:00:00.000Z' },
      { pid: 7, seen_at: '2026-05-04T12:00:15.000Z' },
    ]);
  });

  test('processes of an hour ago are removed, but for the last of each role', async () => {
    const { kept, living } = await scene();
    const start = (pid: number, role: LivingProcess['role'], at: number) =>
      signer(kept)({ role, host: 'here', pid, startedAt: at }, at);
    await start(1, 'work', NOON);
    await start(2, 'work', NOON + 1);
    await start(3, 'receive', NOON);
    await start(4, 'receive', NOON + HOUR + 2);
    expect(await living()).toEqual([2, 4]);
    await start(5, 'work', NOON + 2 * HOUR);
    expect(await living()).toEqual([4, 5]);
  });

  test('a worker has worked an inbox that it gave a sign to, and one whose jobs were ever claimed', async () => {
    const { kept } = await scene();
    const everSeen = async () => (await boxIn(kept).at(NOON).readPulse()).workerEverSeen;
    await signer(kept)({ ...WORKER, role: 'receive' }, NOON);
    const inbox = boxIn(kept);
    await inbox.accept([acceptedDelivery()], NOON);
    expect(await everSeen()).toBe(false);
    await inbox.claim({ now: NOON, leaseMs: 1000, slots: 1 });
    expect(await everSeen()).toBe(true);
    const other = await store();
    expect(await signer(other)(WORKER, NOON)).toMatchObject({ workerEverSeen: true });
  });

  test('the pulse tells the last sign of each role and since when the oldest due job waits', async () => {
    const { kept } = await scene();
    const inbox = boxIn(kept);
    expect(await inbox.at(NOON).readPulse()).toEqual({
      at: NOON,
      workerEverSeen: false,
      seenAt: {},
      oldestDueAt: null,
    });
    const sign = signer(kept);
    for (const at of [NOON, NOON + 15_000]) await sign(WORKER, at);
    await signer(kept)({ ...WORKER, role: 'receive' }, NOON + HOUR);
    await inbox.accept([acceptedDelivery()], NOON + 1000);
    await inbox.enqueue({ kind: 'tick', dedupeKey: 'later', trigger: 'schedule', startDelayMs: HOUR }, NOON);
    expect(await inbox.at(NOON + 20_000).readPulse()).toMatchObject({
      at: NOON + 20_000,
      seenAt: { work: NOON + 15_000 },
      oldestDueAt: NOON + 1000,
    });
  });

  test('what came between two instants comes oldest first, accepted alone, however many came at once', async () => {
    const { kept } = await scene();
    const inbox = boxIn(kept);
    const at = (receivedAt: number, over = {}) => acceptedDelivery({ receivedAt, ...over });
    const aside = { verdict: 'ignored' as const, reason: 'another app' };
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
});
