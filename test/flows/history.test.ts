import { writeFileSync } from 'node:fs';
import { expect, inject, test } from 'vitest';
import { playHistory, type HistoryTally } from '../support/history.js';
import { atLength } from '../support/long.js';

/** `npm run torture -- mirror` plays more of them, and other ones. */
const SEEDS = Number(process.env['HISTORY_SEEDS'] ?? atLength(inject('keptIn') === 'PostgreSQL' ? 1 : 2, 10));
const FIRST = Number(process.env['HISTORY_FIRST_SEED'] ?? (inject('keptIn') === 'PostgreSQL' ? 23 : 7));
const played: HistoryTally[] = [];

const seeds = Array.from({ length: SEEDS }, (_, index) => FIRST + index);
/** The profiles of the sandbox: its own way to answer, and as the registry is documented. */
const PROFILES = [
  ['default', undefined],
  ['as-documented', 'as-documented'],
] as const;

test.each(seeds.flatMap(seed => PROFILES.map(([name, profile]) => [seed, name, profile] as const)))(
  'P01 the mirror at rest equals the registry, and its history shows nothing before the registry did (seed %i, profile %s)',
  async (seed, _name, profile) => {
    played.push(await playHistory(seed, profile));
  },
);

const COUNTED = ['operations', 'drops', 'kills', 'falls', 'closed', 'steps', 'pages'] as const;

test('in these histories deliveries were lost, workers and the registry were killed, rows were closed and clocks put back', () => {
  const sums = COUNTED.map(name => [name, played.reduce((sum, tally) => sum + tally[name], 0)] as const);
  expect(sums.filter(([, sum]) => sum === 0)).toEqual([]);
  const report = process.env['HISTORY_REPORT'];
  if (report === undefined) return;
  writeFileSync(report, JSON.stringify({ seeds: played.length, ...Object.fromEntries(sums) }));
});
