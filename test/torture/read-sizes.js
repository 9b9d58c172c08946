/**
 * Returns the sizes that were given as arguments of a torture, each at its place, and its usual ones for the rest. The one
 * argument `smallest` stands for the sizes with which the torture only shows that it still runs.
 * @param {readonly string[]} usual
 * @param {readonly string[]} smallest
 */
export function readSizes(usual, smallest) {
  const given = process.argv.slice(3);
  if (given[0] === 'smallest') return smallest;
  return [...given, ...usual.slice(given.length)];
}
