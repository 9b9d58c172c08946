import { inject, test } from 'vitest';

const IS_LONG = process.env['LONG'] !== undefined;

/** Tests that only `npm run torture -- long` runs. Each has a short form that always runs. */
export const long: { readonly test: typeof test.skip } = { test: IS_LONG ? test : test.skip };

/** Tests whose result does not depend on the engine: on PostgreSQL, only the long run includes them. */
export const engineIndependent: typeof long = { test: inject('keptIn') === 'PostgreSQL' ? long.test : test };

/** Returns `full` in the long run, and `short` in all others. */
export function chooseLength(short: number, full: number): number {
  return IS_LONG ? full : short;
}
