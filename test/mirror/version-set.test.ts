import { expect, test } from 'vitest';
import { VersionSet } from '../../src/mirror/list/version-set.js';

const NUMBERS = [0, 1, 31, 32, 4095, 4096, 8191, 2 ** 40];

test('at the ends of words and chunks a set has what was added to it and nothing else, packed and unpacked too', () => {
  const set = new VersionSet();
  for (const is of [true, false])
    expect(NUMBERS.map(number => set.add(number))).toEqual(NUMBERS.map(() => is));
  for (const same of [set, VersionSet.unpack(set.pack())]) {
    expect([...same.values()]).toEqual(NUMBERS);
    expect(same.size).toBe(NUMBERS.length);
    expect(NUMBERS.filter(number => !same.has(number))).toEqual([]);
    expect([2, 30, 33, 4094, 4097, 8192, 2 ** 40 + 1, 2 ** 41].filter(number => same.has(number))).toEqual(
      [],
    );
  }
});
