import { describe, expect, test } from 'vitest';
import {
  createTestInbox,
  listDeliverySlices,
  type InboxStore,
  acceptedDelivery,
  NOON,
} from '../support/inbox.js';
import { ENGINES } from '../support/mirror/open.js';
import type { ProcessIdentity, InboxStatus } from '../../src/inbox/process.js';

const HOUR = 3_600_000;
const WORKER: ProcessIdentity = { role: 'work', host: 'here', pid: 7, startedAt: NOON };

/** Returns the heartbeat function of one process. */
function createHeartbeat(kept: InboxStore): (self: ProcessIdentity, now: number) => Promise<InboxStatus> {
  const { at } = createTestInbox(kept);
  return (self, now) => at(now).heartbeat(self);
}

describe.each(ENGINES)('$name', ({ store }) => {
  async function openScene() {
    const kept = await store();
    const listRows = () => kept.db.rows('SELECT role, pid, seen_at FROM processes ORDER BY id');
    const listPids = () => kept.db.column<number>('SELECT pid FROM processes ORDER BY pid');
    return { kept, listRows, listPids };
  }

  test('the first heartbeat of a process inserts a row, and later ones update it', async () => {
    const { kept, listRows } = await openScene();
    const beat = createHeartbeat(kept);
    for (const at of [NOON, NOON + 15_000]) await beat(WORKER, at);
    await createHeartbeat(kept)({ ...WORKER, role: 'receive', pid: 8 }, NOON);
    expect(await listRows()).toEqual([
      { role: 'work', pid: 7, seen_at: '2026-05-04T12:00:15.000Z' },
      { role: 'receive', pid: 8, seen_at: '2026-05-04T12:00:00.000Z' },
    ]);
  });

  test('after an inbox was restored, a heartbeat inserts a new row and never updates the row of another process', async () => {
    const { kept, listRows } = await openScene();
    const beat = createHeartbeat(kept);
    await beat(WORKER, NOON);
    await kept.db.change('UPDATE processes SET pid = 99');
    await beat(WORKER, NOON + 15_000);
    expect(await listRows()).toMatchObject([
      { pid: 99, seen_at: '2026-05-04T12:00:00.000Z' },
      { pid: 7, seen_at: '2026-05-04T12:00:15.000Z' },
    ]);
  });

  test('processes without a heartbeat for an hour are removed, except the last of each role', async () => {
    const { kept, listPids } = await openScene();
    const start = (pid: number, role: ProcessIdentity['role'], at: number) =>
      createHeartbeat(kept)({ role, host: 'here', pid, startedAt: at }, at);
    await start(1, 'work', NOON);
    await start(2, 'work', NOON + 1);
    await start(3, 'receive', NOON);
    await start(4, 'receive', NOON + HOUR + 2);
    expect(await listPids()).toEqual([2, 4]);
    await start(5, 'work', NOON + 2 * HOUR);
    expect(await listPids()).toEqual([4, 5]);
  });

  test('a worker was seen if it ever sent a heartbeat or claimed a job', async () => {
    const { kept } = await openScene();
    const everSeen = async () => (await createTestInbox(kept).at(NOON).readStatus()).workerEverSeen;
    await createHeartbeat(kept)({ ...WORKER, role: 'receive' }, NOON);
    const inbox = createTestInbox(kept);
    await inbox.accept([acceptedDelivery()], NOON);
    expect(await everSeen()).toBe(false);
    await inbox.claim({ now: NOON, leaseMs: 1000, slots: 1 });
    expect(await everSeen()).toBe(true);
    const otherStore = await store();
    expect(await createHeartbeat(otherStore)(WORKER, NOON)).toMatchObject({ workerEverSeen: true });
  });

  test('the status has the last heartbeat of each role and the run time of the oldest due job', async () => {
    const { kept } = await openScene();
    const inbox = createTestInbox(kept);
    expect(await inbox.at(NOON).readStatus()).toEqual({
      at: NOON,
      workerEverSeen: false,
      seenAt: {},
      oldestDueAt: null,
    });
    const beat = createHeartbeat(kept);
    for (const at of [NOON, NOON + 15_000]) await beat(WORKER, at);
    await createHeartbeat(kept)({ ...WORKER, role: 'receive' }, NOON + HOUR);
    await inbox.accept([acceptedDelivery()], NOON + 1000);
    await inbox.enqueue({ kind: 'tick', dedupeKey: 'later', trigger: 'schedule', startDelayMs: HOUR }, NOON);
    expect(await inbox.at(NOON + 20_000).readStatus()).toMatchObject({
      at: NOON + 20_000,
      seenAt: { work: NOON + 15_000 },
      oldestDueAt: NOON + 1000,
    });
  });

  test('accepted deliveries of a time range are listed oldest first, in pages, however many arrived at once', async () => {
    const { kept } = await openScene();
    const inbox = createTestInbox(kept);
    const at = (receivedAt: number, overrides = {}) => acceptedDelivery({ receivedAt, ...overrides });
    const ignored = { verdict: 'ignored' as const, reason: 'another app' };
    await inbox.accept([at(NOON + 3), at(NOON - 1), at(NOON), at(NOON + 1, ignored)], NOON);
    const many = Array.from({ length: 4500 }, () => at(NOON + 2));
    await inbox.accept(many, NOON);
    const iso = (ms: number) => new Date(NOON + ms).toISOString();
    const slices = await listDeliverySlices(inbox, { since: iso(0), until: iso(2), afterId: 0 });
    expect(slices.length).toBeGreaterThan(2);
    expect(Math.max(...slices.map(slice => slice.length))).toBeLessThanOrEqual(2000);
    const instants = slices.flat().map(({ receivedAt }) => receivedAt);
    expect(instants).toEqual([iso(0), ...many.map(() => iso(2))]);
  });
});
