import { expect, test } from 'vitest';
import type { RowClose } from '../../src/mirror/port.js';
import { type Portion, Slices } from '../../src/mirror/list/slices.js';

const ENDING = { state: 'complete', fault: null, isInterrupted: false, requests: 1, bytes: 1 } as const;
const NOTHING = { size: 0, length: 0, mends: 0 };

function heldBack(held = NOTHING) {
  const now = { ...held };
  const slices = new Slices(now);
  /** Each portion is taken before the next is asked for. */
  const taken = (portions: Iterable<Portion>) =>
    Array.from(portions, portion => {
      now.size = Math.max(now.size - portion.limit, 0);
      return portion;
    });
  return { now, slices, taken };
}

test('one row that is held back is written after fifty pages, and the next fifty are counted anew', () => {
  const { now, slices, taken } = heldBack();
  for (let round = 0; round < 2; round += 1) {
    expect(taken(slices.afterPage())).toEqual([]);
    now.size = 1;
    for (let page = 0; page < 49; page += 1) expect(taken(slices.afterPage())).toEqual([]);
    expect(taken(slices.afterPage())).toEqual([{ limit: 800, rest: {} }]);
  }
});

test.each(['afterPage', 'afterBatch'] as const)(
  '%s restores what is as much as one slice, and no less',
  after => {
    const { now, slices, taken } = heldBack();
    now.mends = 799;
    expect(taken(slices[after]())).toEqual([]);
    now.mends = 800;
    expect(taken(slices[after]())).toEqual([{ limit: 0, rest: {} }]);
  },
);

test('rows that are closed in slices are each closed once, the last of them with the end', () => {
  const closes = Array.from({ length: 1_700 }, (_, version): RowClose => ({ version, observedAt: 'then' }));
  const { slices, taken } = heldBack({ ...NOTHING, size: 900 });
  const portions = taken(slices.atEnd({ closes, closed: closes.length, doubt: null }, ENDING));
  expect(portions.map(({ limit }) => limit)).toEqual([800, 800, 0, 0, 0, 800]);
  expect(portions.map(({ rest }) => [...(rest.closes ?? [])].length)).toEqual([0, 0, 800, 800, 100, 0]);
  expect(portions.flatMap(({ rest }) => [...(rest.closes ?? [])])).toEqual(closes);
  expect(portions.map(({ ending }) => ending !== undefined)).toEqual([
    false,
    false,
    false,
    false,
    false,
    true,
  ]);
});
