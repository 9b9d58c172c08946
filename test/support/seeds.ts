const COUNT = process.env['SEEDS'];
const FIRST = Number(process.env['FIRST_SEED'] ?? 0);

/** With which numbers a law is played by chance: few here, and as many as one likes by `npm run torture -- chance`. */
export function listSeeds(few: number, first = 1): number[] {
  return Array.from({ length: Number(COUNT ?? few) }, (_, index) => FIRST + first + index);
}
