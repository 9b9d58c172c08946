import { expect, test } from 'vitest';
import { coalesce } from '../../src/text/coalesce.js';

/** Work that ends when it is let go. */
function heldWork() {
  const releases: (() => void)[] = [];
  let atOnce = 0;
  let most = 0;
  let begun = 0;
  const ask = coalesce(async () => {
    begun += 1;
    atOnce += 1;
    most = Math.max(most, atOnce);
    await new Promise<void>(resolve => releases.push(resolve));
    atOnce -= 1;
  });
  const turn = () => new Promise(setImmediate);
  const release = async () => {
    releases.shift()?.();
    await turn();
  };
  return { ask, turn, release, begun: () => begun, most: () => most };
}

test('whoever asks while work is under way has it done once more, however many ask', async () => {
  const { ask, turn, release, begun, most } = heldWork();
  const first = ask();
  await turn();
  const others = [ask(), ask(), ask()];
  await release();
  await first;
  expect(begun()).toBe(2);
  await release();
  await Promise.all(others);
  expect({ begun: begun(), most: most() }).toEqual({ begun: 2, most: 1 });
});

test('whoever asks at the very moment when work ends never makes it two at once', async () => {
  const { ask, turn, release, begun, most } = heldWork();
  const first = ask();
  const asking = first.then(() => ask());
  await turn();
  const next = ask();
  await release();
  await release();
  await release();
  await Promise.all([first, asking, next]);
  expect({ begun: begun(), most: most() }).toEqual({ begun: 2, most: 1 });
});

test('work that fails is done again by who asks next', async () => {
  let begun = 0;
  const ask = coalesce(async () => {
    begun += 1;
    if (begun === 1) throw new Error('on purpose');
  });
  await expect(ask()).rejects.toThrow('on purpose');
  await ask();
  expect(begun).toBe(2);
});
