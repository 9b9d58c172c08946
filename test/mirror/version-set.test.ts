import { expect, test } from 'vitest';
import { VersionSet } from '../../src/mirror/list/pending-writes.js';

const NUMBERS = [0, 1, 31, 32, 4095, 4096, 8191, 2 ** 40];

test('a set contains exactly the versions added to it, at word and chunk bounds too, also after pack and unpack', () => {
  const set = new VersionSet();
  for (const isNew of [true, false])
    expect(NUMBERS.map(number => set.add(number))).toEqual(NUMBERS.map(() => isNew));
  for (const copy of [set, VersionSet.unpack(set.pack())]) {
    expect([...copy.values()]).toEqual(NUMBERS);
    expect(copy.size).toBe(NUMBERS.length);
    expect(NUMBERS.filter(number => !copy.has(number))).toEqual([]);
    expect([2, 30, 33, 4094, 4097, 8192, 2 ** 40 + 1, 2 ** 41].filter(number => copy.has(number))).toEqual(
      [],
    );
  }
});
