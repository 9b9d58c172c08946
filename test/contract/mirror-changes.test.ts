import { describe, expect, test } from 'vitest';
import { changesSince, present, replay } from '../support/changes.js';
import { changing } from '../support/changing.js';
import { ENGINES } from '../support/mirror/open.js';
import { seeds } from '../support/seeds.js';

const STEPS = 25;
const KINDS = [
  'gone retirements',
  'gone warehouse_credits',
  'gone certificates',
  'twice',
  'project',
  'suspend',
];

describe.each(ENGINES)('$name', ({ stage }) => {
  const seen = new Set<string>();

  test.each(seeds(2, 0))(
    'P05 a reader that stores the last number gets every change once and in order, removals included (seed %i)',
    async seed => {
      const scene = await stage();
      const { change } = changing(scene, seed);
      const copy = new Map<string, string>();
      let last = 0;
      for (let step = 0; step < STEPS; step += 1) {
        seen.add(await change());
        const changes = await changesSince(scene.db, last);
        const numbers = changes.map(({ number }) => number);
        expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
        for (const { place, shows } of changes) if (shows === null) seen.add(`gone ${place.split(' ')[0]}`);
        replay(copy, changes);
        expect(copy).toEqual(await present(scene.db));
        last = numbers.at(-1) ?? last;
      }
    },
  );

  test('the generated changes include every kind', () => {
    expect(KINDS.filter(kind => !seen.has(kind))).toEqual([]);
  });
});
