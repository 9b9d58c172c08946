// Updates docs/figures.md, which has one line for each figure with a bound.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * @typedef {{
 *   readonly bench: string,
 *   readonly name: string,
 *   readonly value: number,
 *   readonly unit: string,
 *   readonly words: string,
 *   readonly holds: boolean,
 * }} Figure
 */

const PAGE = new URL('../../../docs/figures.md', import.meta.url);
const HEAD = `# Figures

Measured speed and memory. \`npm run bench -- --write [NAME]\` measures again and writes this page.

- Most figures are ratios to a baseline from the same run, such as the bare SQL queries of a page. No test asserts a time.
- A figure is valid only for the commit, day and machine in its row.
- Other programs that run on the machine lengthen elapsed times. Figures in processor time hardly depend on them.
- A *floor* is the least that any program must do for the same result: the same requests, flushes and inserts without our checks.
- p50 is the median; 99 of 100 measured times are below p99. A target that was missed ends with \`: missed\`.
- \`receive\` compares three servers: (a) our receiver, which stores each delivery and flushes it; (b) Express that checks the signature and stores
  nothing; (c) Express with one flushed insert per request.

`;
const TABLE = '| benchmark | figure | measured | target | commit, day, machine |\n|---|---|---|---|---|\n';

/**
 * Writes figures with the stamp of their run. They replace earlier figures with the same names, and all earlier figures of the complete
 * benchmarks.
 * @param {readonly Figure[]} figures
 * @param {string} stamp
 * @param {readonly string[]} complete the benchmarks that measured all their figures
 */
export function writeFigures(figures, stamp, complete) {
  const kept = readRows().filter(row => !complete.some(bench => row.startsWith(`| ${bench} |`)));
  const rows = new Map(kept.map(row => [keyOf(row), row]));
  for (const { bench, name, value, unit, words, holds } of figures) {
    const target = holds ? words : `${words}: missed`;
    const row = `| ${[bench, name.replaceAll('|', '/'), `${value.toFixed(2)} ${unit}`, target, stamp].join(' | ')} |`;
    rows.set(keyOf(row), row);
  }
  const body = [...rows.values()].toSorted().join('\n');
  writeFileSync(
    PAGE,
    rows.size === 0 ? `${HEAD}Nothing has been measured yet.\n` : `${HEAD}${TABLE}${body}\n`,
  );
}

function readRows() {
  if (!existsSync(PAGE)) return [];
  return readFileSync(PAGE, 'utf8')
    .split('\n')
    .filter(line => /^\| (?!benchmark )\w/.test(line));
}

/** @param {string} row */
function keyOf(row) {
  return row.split(' | ').slice(0, 2).join();
}
