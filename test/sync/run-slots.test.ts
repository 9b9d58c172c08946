import PQueue from 'p-queue';
import { expect, test } from 'vitest';
import { acquireSlot } from '../../src/sync/worker/run-slots.js';

const onLongRun = () => {};

async function runThroughSlot(queue: PQueue, arrived: () => void): Promise<void> {
  const slot = await acquireSlot({ queue, onLongRun, areRunsWaiting: async () => false });
  arrived();
  slot.release();
}

test('a long run lets a waiting run go first and then continues', async () => {
  const queue = new PQueue({ concurrency: 1 });
  const seen: string[] = [];
  const long = await acquireSlot({ queue, onLongRun, areRunsWaiting: async () => queue.size > 0 });
  const small = runThroughSlot(queue, () => seen.push('small'));
  for (let page = 1; page <= 120; page++) {
    await long.yieldTurn();
    seen.push(`page ${page}`);
  }
  long.release();
  await small;
  expect(seen.indexOf('small')).toBe(49);
  expect(seen).toHaveLength(121);
});

test('a short run keeps its slot, and so does a long run while no other waits', async () => {
  const queue = new PQueue({ concurrency: 1 });
  let waiting = false;
  const longAtPage: number[] = [];
  let page = 1;
  const slot = await acquireSlot({
    queue,
    onLongRun: () => longAtPage.push(page),
    areRunsWaiting: async () => waiting,
  });
  for (; page <= 199; page++) await slot.yieldTurn();
  expect(queue.pending).toBe(1);
  expect(longAtPage).toEqual([50]);
  waiting = true;
  const order: string[] = [];
  const next = runThroughSlot(queue, () => order.push('other'));
  await slot.yieldTurn();
  order.push('resumed');
  slot.release();
  await next;
  expect(order).toEqual(['other', 'resumed']);
});

test('no more runs are active than there are slots', async () => {
  const queue = new PQueue({ concurrency: 3 });
  let running = 0;
  let maxRunning = 0;
  await Promise.all(
    Array.from({ length: 10 }, async () => {
      const slot = await acquireSlot({ queue, onLongRun, areRunsWaiting: async () => queue.size > 0 });
      for (let page = 0; page < 130; page++) {
        running += 1;
        maxRunning = Math.max(maxRunning, running);
        await Promise.resolve();
        running -= 1;
        await slot.yieldTurn();
      }
      slot.release();
    }),
  );
  expect(maxRunning).toBe(3);
});

test('other work of the process goes first after every page', async () => {
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
