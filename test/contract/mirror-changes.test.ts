import { describe, expect, test } from 'vitest';
import { listChangesSince, readCurrentRows, applyChanges } from '../support/changes.js';
import { createRandomMirror } from '../support/random-mirror.js';
import { ENGINES } from '../support/mirror/open.js';
import { listSeeds } from '../support/seeds.js';

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

  test.each(listSeeds(2, 0))(
    'P05 a reader that stores the last number gets every change once and in order, removals included (seed %i)',
    async seed => {
      const scene = await stage();
      const { change } = createRandomMirror(scene, seed);
      const copy = new Map<string, string>();
      let last = 0;
      for (let step = 0; step < STEPS; step += 1) {
        seen.add(await change());
        const changes = await listChangesSince(scene.db, last);
        const numbers = changes.map(({ number }) => number);
        expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
        for (const { place, shows } of changes) if (shows === null) seen.add(`gone ${place.split(' ')[0]}`);
        applyChanges(copy, changes);
        expect(copy).toEqual(await readCurrentRows(scene.db));
        last = numbers.at(-1) ?? last;
      }
    },
  );

  test('the generated changes include every kind', () => {
    expect(KINDS.filter(kind => !seen.has(kind))).toEqual([]);
  });
});
