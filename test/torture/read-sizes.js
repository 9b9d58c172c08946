/**
 * Returns the sizes given as arguments of a torture test, and the usual ones for missing arguments. The
 * argument `smallest` selects sizes with which the test only checks that it still runs.
 * @param {readonly string[]} usual
 * @param {readonly string[]} smallest
 */
export function readSizes(usual, smallest) {
  const given = process.argv.slice(3);
  if (given[0] === 'smallest') return smallest;
  return [...given, ...usual.slice(given.length)];
}
