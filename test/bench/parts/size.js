// Chooses how much a benchmark measures: the usual size, or the smallest one, which only checks that it still runs.

/** Whether `smallest` is among the arguments of this benchmark. */
export const IS_SMALLEST = process.argv.includes('smallest');

/**
 * Returns the size to measure with. The environment variable `name` takes precedence if it is set.
 * @param {{ usual: number, smallest: number, name?: string }} sizes
 */
export function chooseSize({ usual, smallest, name }) {
  const override = name === undefined ? undefined : process.env[name];
  return Number(override ?? (IS_SMALLEST ? smallest : usual));
}
