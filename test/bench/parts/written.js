// The page of figures: a line for each that a benchmark demands, the newest in place of the one before.
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

Written by \`npm run bench -- --write [NAME]\`. Most are ratios against a floor that the same run measures, and no test asserts a time. A
figure holds for its commit, its day and its machine.

`;
const TABLE = '| benchmark | figure | measured | demanded | commit, day, machine |\n|---|---|---|---|---|\n';

/**
 * @param {readonly Figure[]} figures
 * @param {string} stamp
 * @param {URL} [page]
 */
export function writeFigures(figures, stamp, page = PAGE) {
  const rows = new Map(readRows(page).map(row => [keyOf(row), row]));
  for (const { bench, name, value, unit, words, holds } of figures) {
    const demanded = holds ? words : `${words}: missed`;
    const row = `| ${[bench, name.replaceAll('|', '/'), `${value.toFixed(2)} ${unit}`, demanded, stamp].join(' | ')} |`;
    rows.set(keyOf(row), row);
  }
  const body = [...rows.values()].toSorted().join('\n');
  writeFileSync(
    page,
    rows.size === 0 ? `${HEAD}Nothing has been measured yet.\n` : `${HEAD}${TABLE}${body}\n`,
  );
}

/** @param {URL} page */
function readRows(page) {
  if (!existsSync(page)) return [];
  return readFileSync(page, 'utf8')
    .split('\n')
    .filter(line => /^\| (?!benchmark )\w/.test(line));
}

/** @param {string} row */
function keyOf(row) {
  return row.split(' | ').slice(0, 2).join();
}
