import { writeFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import { playHistory, type HistoryTally } from '../support/history.js';
import { chooseLength } from '../support/long.js';

/** `npm run torture -- mirror` plays more seeds. */
const SEED_COUNT = Number(
  process.env['HISTORY_SEEDS'] ?? chooseLength(inject('keptIn') === 'PostgreSQL' ? 1 : 2, 10),
);
const FIRST_SEED = Number(process.env['HISTORY_FIRST_SEED'] ?? (inject('keptIn') === 'PostgreSQL' ? 23 : 7));
const tallies: HistoryTally[] = [];

const seeds = Array.from({ length: SEED_COUNT }, (_, index) => FIRST_SEED + index);
/** The profiles of the sandbox: its default responses, and responses as documented. */
const PROFILES = [
  ['default', undefined],
  ['as-documented', 'as-documented'],
] as const;

test.each(seeds.flatMap(seed => PROFILES.map(([name, profile]) => [seed, name, profile] as const)))(
  'P01 the mirror at rest equals the registry, and its history shows nothing before the registry did (seed %i, profile %s)',
  async (seed, _name, profile) => {
    tallies.push(await playHistory(seed, profile));
  },
);

const REQUIRED_EVENTS = [
  'operations',
  'drops',
  'kills',
  'registryKills',
  'closedRows',
  'clockChanges',
  'pages',
] as const;

test('these histories contain lost deliveries, killed workers, registry outages, closed rows and clock changes', () => {
  const sums = REQUIRED_EVENTS.map(
    name => [name, tallies.reduce((sum, tally) => sum + tally[name], 0)] as const,
  );
  expect(sums.filter(([, sum]) => sum === 0)).toEqual([]);
  const report = process.env['HISTORY_REPORT'];
  if (report === undefined) return;
  writeFileSync(report, JSON.stringify({ seeds: tallies.length, ...Object.fromEntries(sums) }));
});
