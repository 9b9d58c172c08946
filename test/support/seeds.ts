const COUNT = process.env['SEEDS'];
const FIRST = Number(process.env['FIRST_SEED'] ?? 0);

/** Returns the seeds of a test with random data: a few by default, or as many as `npm run torture -- chance` requests. */
export function listSeeds(defaultCount: number, first = 1): number[] {
  return Array.from({ length: Number(COUNT ?? defaultCount) }, (_, index) => FIRST + first + index);
}
