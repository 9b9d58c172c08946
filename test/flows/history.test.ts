import { expect, test } from 'vitest';
import { playHistory, type Tally } from '../support/history.js';

const SEEDS = 25;
const played: Tally[] = [];

test.each(Array.from({ length: SEEDS }, (_, index) => index + 1))(
  'whatever happens, the mirror at rest equals the registry and its history stays true (seed %i)',
  async seed => {
    played.push(await playHistory(seed));
  },
  30_000,
);

test('in these histories deliveries were lost, workers were killed and rows were closed', () => {
  const sum = (of: (tally: Tally) => number) => played.reduce((total, tally) => total + of(tally), 0);
  expect(sum(tally => tally.drops)).toBeGreaterThan(0);
  expect(sum(tally => tally.kills)).toBeGreaterThan(0);
  expect(sum(tally => tally.closed)).toBeGreaterThan(0);
});
