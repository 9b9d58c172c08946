import PQueue from 'p-queue';
import { expect, test } from 'vitest';
import { acquireSlot } from '../../src/sync/worker/slots.js';

const onLongRun = () => {};

async function passThrough(queue: PQueue, arrived: () => void): Promise<void> {
  const slot = await acquireSlot({ queue, onLongRun, areRunsWaiting: async () => false });
  arrived();
  slot.release();
}

test('a long run lets one that waits go first, and then goes on', async () => {
  const queue = new PQueue({ concurrency: 1 });
  const seen: string[] = [];
  const long = await acquireSlot({ queue, onLongRun, areRunsWaiting: async () => queue.size > 0 });
  const small = passThrough(queue, () => seen.push('small'));
  for (let page = 1; page <= 120; page++) {
    await long.yieldTurn();
    seen.push(`page ${page}`);
  }
  long.release();
  await small;
  expect(seen.indexOf('small')).toBe(49);
  expect(seen).toHaveLength(121);
});

test('a short run keeps its place, and so does a long one while nobody waits', async () => {
  const queue = new PQueue({ concurrency: 1 });
  let waiting = false;
  const saidLong: number[] = [];
  let page = 1;
  const slot = await acquireSlot({
    queue,
    onLongRun: () => saidLong.push(page),
    areRunsWaiting: async () => waiting,
  });
  for (; page <= 199; page++) await slot.yieldTurn();
  expect(queue.pending).toBe(1);
  expect(saidLong).toEqual([50]);
  waiting = true;
  const order: string[] = [];
  const next = passThrough(queue, () => order.push('other'));
  await slot.yieldTurn();
  order.push('first again');
  slot.release();
  await next;
  expect(order).toEqual(['other', 'first again']);
});

test('never more runs at once than there are places', async () => {
  const queue = new PQueue({ concurrency: 3 });
  let running = 0;
  let most = 0;
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      const slot = await acquireSlot({ queue, onLongRun, areRunsWaiting: async () => queue.size > 0 });
      for (let page = 0; page < 130; page++) {
        running += 1;
        most = Math.max(most, running);
        await Promise.resolve();
        running -= 1;
        await slot.yieldTurn();
      }
      slot.release();
    }),
  );
  expect(most).toBe(3);
});

test('after every page all else that waits in the process goes first', async () => {
  const queue = new PQueue({ concurrency: 1 });
  const slot = await acquireSlot({ queue, onLongRun: () => undefined, areRunsWaiting: async () => false });
  let others = 0;
  for (let page = 1; page <= 3; page += 1) {
    setImmediate(() => {
      others += 1;
    });
    await slot.yieldTurn();
    expect(others).toBe(page);
  }
  slot.release();
});
