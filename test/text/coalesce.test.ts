import { expect, test } from 'vitest';
import { coalesce } from '../../src/text/coalesce.js';

/** A coalesced function whose runs end only when the test releases them. */
function createHeldRuns() {
  const releases: (() => void)[] = [];
  let concurrent = 0;
  let maxConcurrent = 0;
  let started = 0;
  const call = coalesce(async () => {
    started += 1;
    concurrent += 1;
    maxConcurrent = Math.max(maxConcurrent, concurrent);
    await new Promise<void>(resolve => releases.push(resolve));
    concurrent -= 1;
  });
  const turn = () => new Promise(setImmediate);
  const release = async () => {
    releases.shift()?.();
    await turn();
  };
  return { call, turn, release, getStarted: () => started, getMaxConcurrent: () => maxConcurrent };
}

test('calls during a run share one further run', async () => {
  const { call, turn, release, getStarted, getMaxConcurrent } = createHeldRuns();
  const first = call();
  await turn();
  const others = [call(), call(), call()];
  await release();
  await first;
  expect(getStarted()).toBe(2);
  await release();
  await Promise.all(others);
  expect({ started: getStarted(), maxConcurrent: getMaxConcurrent() }).toEqual({
    started: 2,
    maxConcurrent: 1,
  });
});

test('a call at the moment a run ends does not start two runs at once', async () => {
  const { call, turn, release, getStarted, getMaxConcurrent } = createHeldRuns();
  const first = call();
  const asking = first.then(() => call());
  await turn();
  const next = call();
  await release();
  await release();
  await release();
  await Promise.all([first, asking, next]);
  expect({ started: getStarted(), maxConcurrent: getMaxConcurrent() }).toEqual({
    started: 2,
    maxConcurrent: 1,
  });
});

test('a failed run rejects its call, and the next call runs again', async () => {
  let started = 0;
  const call = coalesce(async () => {
    started += 1;
    if (started === 1) throw new Error('on purpose');
  });
  await expect(call()).rejects.toThrow('on purpose');
  await call();
  expect(started).toBe(2);
});
