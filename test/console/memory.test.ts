import { expect, test } from 'vitest';
import { remember } from '../../src/console/memory.js';
import type { Reader } from '../../src/store/contract/reader.js';

const READER: Reader = {
  all: () => Promise.reject(new Error('asked')),
  stream: () => {
    throw new Error('asked');
  },
  inSnapshot: work => work(READER),
  shown: () => '',
};

test('what is remembered is read again once its key says something else, or its time is over, and not before', async () => {
  let key = 'one';
  let reads = 0;
  const read = remember(async () => `${key} ${(reads += 1)}`, { forMs: 1_000, keyOf: async () => key });
  expect([await read(READER, 0), await read(READER, 999)]).toEqual(['one 1', 'one 1']);
  expect(await read(READER, 1_000)).toBe('one 2');
  key = 'two';
  expect([await read(READER, 1_001), await read(READER, 1_002)]).toEqual(['two 3', 'two 3']);
});

test('what failed is not remembered', async () => {
  let reads = 0;
  const read = remember(
    async () => {
      reads += 1;
      if (reads === 1) throw new Error('no answer');
      return reads;
    },
    { forMs: 1_000 },
  );
  await expect(read(READER, 0)).rejects.toThrow('no answer');
  expect(await read(READER, 1)).toBe(2);
});
