import { expect, test } from 'vitest';
import { coalesce } from '../../src/text/coalesce.js';

/** A coalesced run that ends when it is released. */
function createHeldRun() {
  const releases: (() => void)[] = [];
  let running = 0;
  let mostRunning = 0;
  let runCount = 0;
  const request = coalesce(async () => {
    runCount += 1;
    running += 1;
    mostRunning = Math.max(mostRunning, running);
    await new Promise<void>(resolve => releases.push(resolve));
    running -= 1;
  });
  const turn = () => new Promise(setImmediate);
  const release = async () => {
    releases.shift()?.();
    await turn();
  };
  return { request, turn, release, runCount: () => runCount, mostRunning: () => mostRunning };
}

test('calls made during a run share one further run', async () => {
  const { request, turn, release, runCount, mostRunning } = createHeldRun();
  const first = request();
  await turn();
  const others = [request(), request(), request()];
  await release();
  await first;
  expect(runCount()).toBe(2);
  await release();
  await Promise.all(others);
  expect({ runs: runCount(), mostRunning: mostRunning() }).toEqual({ runs: 2, mostRunning: 1 });
});

test('runs never overlap, even if a call is made at the moment when a run ends', async () => {
  const { request, turn, release, runCount, mostRunning } = createHeldRun();
  const first = request();
  const callAtEnd = first.then(() => request());
  await turn();
  const next = request();
  await release();
  await release();
  await release();
  await Promise.all([first, callAtEnd, next]);
  expect({ runs: runCount(), mostRunning: mostRunning() }).toEqual({ runs: 2, mostRunning: 1 });
});

test('the call after a failed run starts a new run', async () => {
  let runCount = 0;
  const request = coalesce(async () => {
    runCount += 1;
    if (runCount === 1) throw new Error('on purpose');
  });
  await expect(request()).rejects.toThrow('on purpose');
  await request();
  expect(runCount).toBe(2);
});
