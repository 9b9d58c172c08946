// Writes the figures of a module into the table of docs/mutants.md.
import { readFileSync, writeFileSync } from 'node:fs';

/** @typedef {{ module: string, testFolders: string[], mutants: number, places: number, killed: number, survived: number, known: number }} ModuleResult */

const PAGE = 'docs/mutants.md';
const HEAD = [
  '| module | tests | sample | killed | percent | survivors with a reason | survivors without | commit, day |',
  '|---|---|---|---|---|---|---|---|',
];

/**
 * Writes the row of a module. An earlier row of the module is replaced.
 * @param {ModuleResult} result
 * @param {string} stamp
 */
export function writeModule({ module, testFolders, mutants, places, killed, survived, known }, stamp) {
  const percent = Math.floor((100 * killed) / mutants);
  const tests = testFolders.length > 0 ? testFolders.join(' ') : 'all unit tests';
  const cells = [module, tests, `${mutants} of ${places}`, killed, percent, known, survived - known, stamp];
  const [text = '', table = ''] = readFileSync(PAGE, 'utf8').split(`${HEAD.join('\n')}\n`);
  const rows = table.split('\n').filter(row => row.startsWith('|') && !row.startsWith(`| ${module} |`));
  const sorted = [...rows, `| ${cells.join(' | ')} |`].toSorted();
  writeFileSync(PAGE, `${[text + HEAD.join('\n'), ...sorted].join('\n')}\n`);
}
