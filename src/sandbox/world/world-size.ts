import { createRandom } from './seeded-random.js';

/** The seed and size of a world to generate. Sizes that are left out have a default. */
export interface WorldSpec {
  readonly seed: number;
  /**
   * The start of the sandbox, in epoch milliseconds. The outstanding reservations are made shortly before it; everything
   * else has fixed dates.
   */
  readonly startAt: number;
  readonly organizations?: number;
  readonly projects?: number;
  readonly credits?: number;
  readonly retirements?: number;
}

/** The seed, start time and sizes of a world, with all defaults filled in. */
export type CompleteWorldSpec = Required<WorldSpec>;

/** Each project issues at most this many credits: one per vintage and type. */
const CREDITS_PER_PROJECT = 12;

const HISTORY_START = Date.UTC(2023, 6, 1);
const HISTORY_END = Date.UTC(2025, 5, 30);

/** Adds defaults for the sizes that `spec` leaves out. Throws a RangeError that lists all invalid numbers. */
export function completeWorldSpec(spec: WorldSpec): CompleteWorldSpec {
  const credits = spec.credits ?? 60;
  const size = {
    seed: spec.seed,
    startAt: spec.startAt,
    organizations: spec.organizations ?? 4,
    projects: Math.max(spec.projects ?? 10, Math.ceil(credits / CREDITS_PER_PROJECT)),
    credits,
    retirements: spec.retirements ?? 150,
  };
  const problems = Object.entries(size)
    .filter(([name, value]) => !Number.isSafeInteger(value) || (name !== 'seed' && value < 0))
    .map(([name, value]) => `${name}: expected a whole number from 0, got ${value}`);
  if (size.organizations < 1) problems.push('organizations: expected at least 1');
  if (size.credits < 1) problems.push('credits: expected at least 1');
  if (problems.length > 0) throw new RangeError(problems.join('; '));
  return size;
}

/** Picks a random time within two years for event `index` of `count`. Later indexes give later times. */
export function pickHistoryTime(seed: number, streamName: string, index: number, count: number): number {
  const step = (HISTORY_END - HISTORY_START) / Math.max(count, 1);
  return Math.floor(HISTORY_START + (index + createRandom(seed, `${streamName} time`, index).next()) * step);
}

/** Picks a random amount of 1 to about `maxTonnes` tonnes, in millionths of a tonne. Equal arguments give equal amounts. */
export function pickAmountMicro(seed: number, streamName: string, index: number, maxTonnes: number): number {
  const random = createRandom(seed, `${streamName} amount`, index);
  const whole = (1 + random.below(maxTonnes)) * 1_000_000;
  const precision = random.below(12);
  if (precision < 3) return whole + random.pick([500_000, 250_000, 750_000, 125_000]);
  return precision === 3 ? whole + random.below(1_000_000) : whole;
}
