/**
 * Returns the sizes given as arguments of a torture test, and the usual ones for missing arguments. The
 * argument `smallest` selects sizes with which the test only checks that it still runs.
 * @param {readonly string[]} usual
 * @param {readonly string[]} smallest
 */
export function readSizes(usual, smallest) {
  const sizes = process.argv.slice(3);
  if (sizes[0] === 'smallest') return smallest;
  return [...sizes, ...usual.slice(sizes.length)];
}
