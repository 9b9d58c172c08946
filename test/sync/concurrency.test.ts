import { expect, test } from 'vitest';
import { forEachConcurrently } from '../../src/sync/read/concurrency.js';

test('an error in one lane is thrown after the other lanes have ended', async () => {
  const ended: number[] = [];
  const work = async (item: number) => {
    await Promise.resolve();
    if (item === 1) throw new Error('one of them');
    ended.push(item);
  };
  await expect(forEachConcurrently(2, [0, 1, 2, 3], work)).rejects.toThrow('one of them');
  expect(ended).toEqual([0, 2, 3]);
  await forEachConcurrently(9, [4, 5], work);
  expect(ended).toEqual([0, 2, 3, 4, 5]);
});
