import { writeFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import { playHistory, type Tally } from '../support/history.js';
import { atLength } from '../support/long.js';

/** `npm run torture -- mirror` plays more of them, and other ones. */
const SEEDS = Number(process.env['HISTORY_SEEDS'] ?? atLength(inject('keptIn') === 'PostgreSQL' ? 2 : 4, 10));
const FIRST = Number(process.env['HISTORY_FIRST_SEED'] ?? (inject('keptIn') === 'PostgreSQL' ? 22 : 6));
const played: Tally[] = [];

test.each(Array.from({ length: SEEDS }, (_, index) => FIRST + index))(
  'whatever happens, the mirror at rest equals the registry, and its history stays true and shows nothing before the registry did (seed %i)',
  async seed => {
    played.push(await playHistory(seed));
  },
);

test('in these histories deliveries were lost, workers and the registry were killed, rows were closed and clocks put back', () => {
  const sum = (of: (tally: Tally) => number) => played.reduce((total, tally) => total + of(tally), 0);
  expect(sum(tally => tally.drops)).toBeGreaterThan(0);
  expect(sum(tally => tally.kills)).toBeGreaterThan(0);
  expect(sum(tally => tally.falls)).toBeGreaterThan(0);
  expect(sum(tally => tally.closed)).toBeGreaterThan(0);
  expect(sum(tally => tally.steps)).toBeGreaterThan(0);
  expect(sum(tally => tally.pages)).toBeGreaterThan(0);
  const report = process.env['HISTORY_REPORT'];
  if (report === undefined) return;
  const totals = {
    seeds: played.length,
    operations: 0,
    drops: 0,
    kills: 0,
    falls: 0,
    closed: 0,
    steps: 0,
    pages: 0,
  };
  for (const tally of played) {
    totals.operations += tally.operations;
    totals.drops += tally.drops;
    totals.kills += tally.kills;
    totals.falls += tally.falls;
    totals.closed += tally.closed;
    totals.steps += tally.steps;
    totals.pages += tally.pages;
  }
  writeFileSync(report, JSON.stringify(totals));
});
