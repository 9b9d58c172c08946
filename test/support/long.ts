import { inject, test } from 'vitest';

const IS_LONG = process.env['LONG'] !== undefined;

/** Tests that `npm run torture -- long` plays alone. Each has its short form among those that always run. */
export const long: { readonly test: typeof test.skip } = { test: IS_LONG ? test : test.skip };

/** What no engine decides: on a PostgreSQL it is played at length alone. */
export const filesEnough: typeof long = { test: inject('keptIn') === 'PostgreSQL' ? long.test : test };

/** How much is played in a run of all tests, and there. */
export function atLength(short: number, full: number): number {
  return IS_LONG ? full : short;
}
