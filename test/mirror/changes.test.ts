import { expect, test } from 'vitest';
import { brokenLaws, changesSince, present, replay } from '../support/changes.js';
import { changingScene } from '../support/changing.js';

const tally: Record<string, number> = {};

function count(what: string): void {
  tally[what] = (tally[what] ?? 0) + 1;
}

test.each(Array.from({ length: 8 }, (_, seed) => seed))(
  'whoever keeps the last number finds every change once, in order, those of rows that are gone too (seed %i)',
  async seed => {
    const { handle: db, change, clock } = changingScene(seed);
    const copy = new Map<string, string>();
    let last = 0;
    for (let step = 0; step < 25; step += 1) {
      count(await change());
      const changes = changesSince(db, last);
      const numbers = changes.map(({ number }) => number);
      expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
      for (const { row, shows } of changes) if (shows === null) count(`gone ${row.split(' ')[0]}`);
      replay(copy, changes);
      expect(copy).toEqual(present(db));
      last = numbers.at(-1) ?? last;
    }
    expect(brokenLaws(db, clock.at)).toEqual([]);
  },
);

test('those changes were of every kind', () => {
  const kinds = ['retirements', 'warehouse', 'twice', 'certificates', 'project', 'suspend'];
  const gone = ['gone retirements', 'gone warehouse_credits', 'gone certificates'];
  expect([...kinds, ...gone].filter(kind => tally[kind] === undefined)).toEqual([]);
});
