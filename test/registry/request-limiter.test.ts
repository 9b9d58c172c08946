import { describe, expect, it } from 'vitest';
import { createRequestLimiter } from '../../src/registry/http/request-limiter.js';

const free = { requestsPerSecond: Infinity, burst: 1000, concurrency: 1000, now: () => performance.now() };

describe('the budget of calls', () => {
  it('never starts more than its burst and what the time since has earned', async () => {
    const createdAt = performance.now();
    const budget = createRequestLimiter({ ...free, requestsPerSecond: 200, burst: 5 });
    let started = 0;
    const call = async () => {
      const release = await budget.acquireSlot();
      started += 1;
      const earned = ((performance.now() - createdAt) * 200) / 1000;
      release();
      return started <= 5 + earned;
    };
    const fair = await Promise.all(Array.from({ length: 40 }, call));
    expect(fair).toEqual(fair.map(() => true));
  });

  it('has no more calls in flight than it allows, and serves them in their order', async () => {
    const budget = createRequestLimiter({ ...free, concurrency: 3 });
    const order: number[] = [];
    let running = 0;
    let most = 0;
    const call = async (number: number) => {
      const release = await budget.acquireSlot();
      order.push(number);
      running += 1;
      most = Math.max(most, running);
      await turn();
      running -= 1;
      release();
    };
    await Promise.all(Array.from({ length: 50 }, (_, number) => call(number)));
    expect(most).toBe(3);
    expect(order).toEqual(Array.from({ length: 50 }, (_, number) => number));
  });

  it('leaves two places to other calls, however many downloads wait and never end', async () => {
    const budget = createRequestLimiter({ ...free, concurrency: 8 });
    const taken: string[] = [];
    const take = async (name: string, isDownload: boolean) => {
      await budget.acquireSlot(undefined, isDownload);
      taken.push(name);
    };
    for (let file = 0; file < 24; file++) void take('download', true);
    void take('page', false);
    await turn();
    expect(taken).toEqual([...Array.from({ length: 6 }, () => 'download'), 'page']);
  });

  it('downloads go on as others end', async () => {
    const budget = createRequestLimiter({ ...free, concurrency: 1 });
    const release = await budget.acquireSlot(undefined, true);
    const next = budget.acquireSlot(undefined, true);
    release();
    expect(await next).toBeTypeOf('function');
  });

  it('takes back each place once', async () => {
    const budget = createRequestLimiter({ ...free, concurrency: 1 });
    const release = await budget.acquireSlot();
    release();
    release();
    await budget.acquireSlot();
    const third = Promise.race([budget.acquireSlot().then(() => 'taken'), turn().then(() => 'waiting')]);
    expect(await third).toBe('waiting');
  });

  it('forgets a caller who left while waiting', async () => {
    const budget = createRequestLimiter({ ...free, concurrency: 1 });
    const release = await budget.acquireSlot();
    const leaving = new AbortController();
    const left = budget.acquireSlot(leaving.signal);
    const next = budget.acquireSlot();
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    await expect(budget.acquireSlot(AbortSignal.abort(new Error('never came')))).rejects.toThrow(
      'never came',
    );
    release();
    (await next)();
    (await budget.acquireSlot())();
  });

  it('goes on when the clock steps back, and does not pour when it steps ahead', async () => {
    let shift = 0;
    const budget = createRequestLimiter({
      requestsPerSecond: 1000,
      burst: 2,
      concurrency: 1000,
      now: () => performance.now() + shift,
    });
    for (const step of [-3_600_000, 7_200_000]) {
      await budget.acquireSlot();
      await budget.acquireSlot();
      shift += step;
      await budget.acquireSlot();
    }
    const began = performance.now();
    await Promise.all(Array.from({ length: 20 }, () => budget.acquireSlot()));
    const earned = performance.now() - began;
    expect(2 + earned).toBeGreaterThanOrEqual(20 - 1);
  });
});

function turn(): Promise<void> {
  return new Promise(resolve => {
    setImmediate(resolve);
  });
}
