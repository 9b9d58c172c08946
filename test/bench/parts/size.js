// How much a benchmark measures: its usual size, or its smallest one, which only shows that the benchmark still runs.

/** Whether `smallest` is among the arguments of this benchmark. */
export const IS_SMALLEST = process.argv.includes('smallest');

/**
 * Returns the size to measure with. The environment variable `name`, if there is one and it is set, wins.
 * @param {{ usual: number, smallest: number, name?: string }} sizes
 */
export function chooseSize({ usual, smallest, name }) {
  const given = name === undefined ? undefined : process.env[name];
  return Number(given ?? (IS_SMALLEST ? smallest : usual));
}
