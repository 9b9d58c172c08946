import { describe, expect, it } from 'vitest';
import { createRequestLimiter } from '../../src/registry/http/request-limiter.js';

const free = { requestsPerSecond: Infinity, burst: 1000, concurrency: 1000, now: () => performance.now() };

describe('the request limiter', () => {
  it('never starts more requests than its burst and the rate since then allow', async () => {
    const createdAt = performance.now();
    const limiter = createRequestLimiter({ ...free, requestsPerSecond: 200, burst: 5 });
    let started = 0;
    const call = async () => {
      const release = await limiter.acquireSlot();
      started += 1;
      const earned = ((performance.now() - createdAt) * 200) / 1000;
      release();
      return started <= 5 + earned;
    };
    const fair = await Promise.all(Array.from({ length: 40 }, call));
    expect(fair).toEqual(fair.map(() => true));
  });

  it('limits the requests in flight and starts them in order', async () => {
    const limiter = createRequestLimiter({ ...free, concurrency: 3 });
    const order: number[] = [];
    let running = 0;
    let maxRunning = 0;
    const call = async (number: number) => {
      const release = await limiter.acquireSlot();
      order.push(number);
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      await waitForTurn();
      running -= 1;
      release();
    };
    await Promise.all(Array.from({ length: 50 }, (_, number) => call(number)));
    expect(maxRunning).toBe(3);
    expect(order).toEqual(Array.from({ length: 50 }, (_, number) => number));
  });

  it('keeps two slots for other requests, however many downloads wait', async () => {
    const limiter = createRequestLimiter({ ...free, concurrency: 8 });
    const taken: string[] = [];
    const take = async (name: string, isDownload: boolean) => {
      await limiter.acquireSlot(undefined, isDownload);
      taken.push(name);
    };
    for (let file = 0; file < 24; file++) void take('download', true);
    void take('page', false);
    await waitForTurn();
    expect(taken).toEqual([...Array.from({ length: 6 }, () => 'download'), 'page']);
  });

  it('gives downloads one of four requests while others wait, and all of them otherwise', async () => {
    const limiter = createRequestLimiter({ ...free, concurrency: 1 });
    const releaseFirst = await limiter.acquireSlot();
    const order: string[] = [];
    const take = async (name: string, isDownload: boolean) => {
      const release = await limiter.acquireSlot(undefined, isDownload);
      order.push(name);
      release();
    };
    const downloads = Array.from({ length: 4 }, () => take('download', true));
    const pages = Array.from({ length: 6 }, () => take('page', false));
    releaseFirst();
    await Promise.all([...downloads, ...pages]);
    expect(order.join(' ')).toBe('page page download page page page download page download download');
  });

  it('starts a download when another one ends', async () => {
    const limiter = createRequestLimiter({ ...free, concurrency: 1 });
    const release = await limiter.acquireSlot(undefined, true);
    const next = limiter.acquireSlot(undefined, true);
    release();
    expect(await next).toBeTypeOf('function');
  });

  it('releases each slot once', async () => {
    const limiter = createRequestLimiter({ ...free, concurrency: 1 });
    const release = await limiter.acquireSlot();
    release();
    release();
    await limiter.acquireSlot();
    const third = Promise.race([
      limiter.acquireSlot().then(() => 'taken'),
      waitForTurn().then(() => 'waiting'),
    ]);
    expect(await third).toBe('waiting');
  });

  it('skips a request that was cancelled while waiting', async () => {
    const limiter = createRequestLimiter({ ...free, concurrency: 1 });
    const release = await limiter.acquireSlot();
    const leaving = new AbortController();
    const left = limiter.acquireSlot(leaving.signal);
    const next = limiter.acquireSlot();
    leaving.abort(new Error('gone'));
    await expect(left).rejects.toThrow('gone');
    await expect(limiter.acquireSlot(AbortSignal.abort(new Error('never came')))).rejects.toThrow(
      'never came',
    );
    release();
    (await next)();
    (await limiter.acquireSlot())();
  });

  it('continues when the clock steps back, and starts no burst above the limit when it steps ahead', async () => {
    let shift = 0;
    const limiter = createRequestLimiter({
      requestsPerSecond: 1000,
      burst: 2,
      concurrency: 1000,
      now: () => performance.now() + shift,
    });
    for (const step of [-3_600_000, 7_200_000]) {
      await limiter.acquireSlot();
      await limiter.acquireSlot();
      shift += step;
      await limiter.acquireSlot();
    }
    const began = performance.now();
    await Promise.all(Array.from({ length: 20 }, () => limiter.acquireSlot()));
    const earned = performance.now() - began;
    expect(2 + earned).toBeGreaterThanOrEqual(20 - 1);
  });
});

function waitForTurn(): Promise<void> {
  return new Promise(resolve => {
    setImmediate(resolve);
  });
}
