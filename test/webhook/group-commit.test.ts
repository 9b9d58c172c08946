import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { NewDelivery, StoreResult } from '../../src/inbox/delivery.js';
import { createGroupCommit, NotStoredError } from '../../src/webhook/group-commit.js';
import { createReceiverPort } from '../../src/store/sqlite/inbox/receiver.js';
import { holdLock } from '../support/held.js';
import { acceptedDelivery as arrived, NOON, temporaryFolder, temporaryInbox } from '../support/inbox.js';

function acceptedDelivery(overrides: Partial<NewDelivery> = {}): NewDelivery {
  const { receivedAt: _, ...delivery } = arrived();
  return { ...delivery, receivedMsAgo: 0, ...overrides };
}

const BAD = acceptedDelivery({ reason: 'accepted and ignored at once' });

function counted(folder?: string) {
  const db = temporaryInbox(folder);
  const inbox = createReceiverPort(db, () => NOON);
  const groups: number[] = [];
  const store = (deliveries: readonly NewDelivery[]): Promise<readonly StoreResult[]> => {
    groups.push(deliveries.length);
    return inbox.store(deliveries);
  };
  const stored = () => db.prepare('SELECT count(*) FROM deliveries').pluck().get();
  return { db, store, groups, stored };
}

/** Each group stays under way until it is ended by its place. */
function twoAtOnce() {
  const sizes: number[] = [];
  const ends: (() => void)[] = [];
  const commits = createGroupCommit({
    groupsAtOnce: 2,
    store: async (items: readonly number[]) => {
      sizes.push(items.length);
      await new Promise<void>(resolve => ends.push(resolve));
      return items;
    },
  });
  const answers: Promise<number>[] = [];
  const accept = async (count: number): Promise<void> => {
    for (let post = 0; post < count; post += 1) answers.push(commits.accept(answers.length));
    for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
  };
  return { commits, accept, answers, sizes, ends };
}

describe('deliveries that arrive together', () => {
  test('share few transactions, and each is answered with its own row', async () => {
    const { store, groups, stored } = counted();
    const commits = createGroupCommit({ store });
    const rows = await Promise.all(Array.from({ length: 100 }, () => commits.accept(acceptedDelivery())));
    expect(new Set(rows.map(row => 'id' in row && row.id)).size).toBe(100);
    expect(groups.length).toBeLessThanOrEqual(3);
    expect(stored()).toBe(100);
    expect(commits.waiting()).toBe(0);
  });

  test('are stored in as many transactions at once as may be, the rest in the next', async () => {
    const { commits, accept, answers, sizes, ends } = twoAtOnce();
    await accept(1);
    await accept(32);
    await accept(3);
    expect(sizes).toEqual([1, 32]);
    expect(commits.waiting()).toBe(36);
    const closed = commits.close();
    ends[1]?.();
    await expect.poll(() => sizes).toEqual([1, 32, 3]);
    for (const end of ends) end();
    expect(await Promise.all(answers)).toEqual(Array.from({ length: 36 }, (_, item) => item));
    await closed;
    expect(commits.waiting()).toBe(0);
  });

  test('and are too few for a trip beside another one wait to become more, but not for its end', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { commits, accept, sizes, ends } = twoAtOnce();
    await accept(1);
    await accept(20);
    await accept(11);
    expect(sizes).toEqual([1]);
    await accept(1);
    expect(sizes).toEqual([1, 32]);
    ends[1]?.();
    await accept(2);
    expect(sizes).toEqual([1, 32]);
    vi.runOnlyPendingTimers();
    expect(sizes).toEqual([1, 32, 2]);
    await accept(4);
    ends[0]?.();
    ends[2]?.();
    await expect.poll(() => sizes).toEqual([1, 32, 2, 4]);
    ends[3]?.();
    await commits.close();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('are not answered before their transaction has ended', async () => {
    const { store, stored } = counted();
    let release = (): void => undefined;
    const gate = new Promise<void>(resolve => {
      release = resolve;
    });
    const commits = createGroupCommit({
      store: async (deliveries: readonly NewDelivery[]) => {
        await gate;
        return store(deliveries);
      },
    });
    let answered = false;
    const accepting = commits.accept(acceptedDelivery()).then(row => {
      answered = true;
      return row;
    });
    for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
    expect(answered).toBe(false);
    expect(commits.waiting()).toBe(1);
    release();
    await accepting;
    expect(stored()).toBe(1);
  });

  test('do not suffer from a bad one among them', async () => {
    const { store, stored } = counted();
    const commits = createGroupCommit({ store });
    const results = await Promise.all([
      commits.accept(acceptedDelivery()),
      commits.accept(BAD),
      commits.accept(acceptedDelivery()),
    ]);
    expect(results).toEqual([
      { id: 1, jobId: 1, isDuplicate: false },
      { failure: { code: 'SQLITE_CONSTRAINT_CHECK', message: expect.any(String) } },
      { id: 2, jobId: 1, isDuplicate: false },
    ]);
    expect(stored()).toBe(2);
  });

  test('are rejected beyond the limit, and taken again afterwards', async () => {
    const { store } = counted();
    const commits = createGroupCommit({ store, maxWaiting: 2 });
    const first = [commits.accept(acceptedDelivery()), commits.accept(acceptedDelivery())];
    await expect(commits.accept(acceptedDelivery())).rejects.toMatchObject({ code: 'too_many_waiting' });
    await Promise.all(first);
    await expect(commits.accept(acceptedDelivery())).resolves.toMatchObject({ id: 3 });
  });

  test('count as waiting until they are stored', async () => {
    let release = () => {};
    const released = new Promise<void>(resolve => (release = resolve));
    const { store } = counted();
    const commits = createGroupCommit({
      store: (deliveries: Parameters<typeof store>[0]) => released.then(() => store(deliveries)),
      maxWaiting: 1,
    });
    const first = commits.accept(acceptedDelivery());
    await new Promise(setImmediate);
    await expect(commits.accept(acceptedDelivery())).rejects.toMatchObject({ code: 'too_many_waiting' });
    release();
    await expect(first).resolves.toMatchObject({ id: 1 });
  });

  test('are all stored by a close, and none is taken after it', async () => {
    const { store, stored } = counted();
    const commits = createGroupCommit({ store });
    const accepting = Promise.all(Array.from({ length: 10 }, () => commits.accept(acceptedDelivery())));
    await commits.close();
    expect(stored()).toBe(10);
    await expect(commits.accept(acceptedDelivery())).rejects.toMatchObject({ code: 'closed' });
    await expect(accepting).resolves.toHaveLength(10);
    await commits.close();
  });

  test('are all rejected when nothing can be stored at all', async () => {
    const commits = createGroupCommit({ store: () => Promise.reject(new Error('the thread has ended')) });
    const refusal = commits.accept(acceptedDelivery());
    await expect(refusal).rejects.toBeInstanceOf(NotStoredError);
    await expect(refusal).rejects.toMatchObject({
      code: 'no_result',
      cause: new Error('the thread has ended'),
    });
    expect(commits.waiting()).toBe(0);
  });
});

test('a stranger who holds the lock is waited for once, not once for each delivery', async () => {
  const folder = temporaryFolder();
  const db = temporaryInbox(folder);
  onTestFinished(holdLock(db.name));
  let asked = 0;
  const exec = db.exec.bind(db);
  db.exec = sql => {
    if (sql.startsWith('BEGIN')) asked += 1;
    return exec(sql);
  };
  const three = Array.from({ length: 3 }, () => acceptedDelivery());
  const results = await createReceiverPort(db, () => NOON).store(three);
  expect(asked).toBe(1);
  expect(results).toEqual(three.map(() => ({ failure: expect.objectContaining({ code: 'SQLITE_BUSY' }) })));
});
