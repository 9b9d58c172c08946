// Reads and writes the table "Last proofs" of docs/promises.md: the last run that proved each promise, and the last run of each torture
// test.
import { readFileSync, writeFileSync } from 'node:fs';

/**
 * `name` is the code of a promise, or a torture test with its sizes.
 * @typedef {{ name: string, result: string, stamp: string }} Proof
 */

const PAGE = 'docs/promises.md';
const HEAD = '| promise or torture test | result | commit, day |\n|---|---|---|\n';

/** Returns the codes of all promises, in the order of the page. */
export function listPromises() {
  return Array.from(readFileSync(PAGE, 'utf8').matchAll(/^- \*\*([TP]\d+)\*\*/gm), ([, code = '']) => code);
}

/** @returns {Proof[]} */
export function readProofs() {
  const [, table = ''] = readFileSync(PAGE, 'utf8').split(HEAD);
  return table
    .split('\n')
    .filter(line => line.startsWith('| '))
    .map(line => {
      const [name = '', result = '', stamp = ''] = line.slice(2, -2).split(' | ');
      return { name, result, stamp };
    });
}

/**
 * Writes rows into the table, which ends the page. Earlier rows of the same names, and those of `failed`, are removed.
 * @param {readonly Proof[]} proofs
 * @param {readonly string[]} [failed]
 */
export function writeProofs(proofs, failed = []) {
  const replaced = new Set([...proofs.map(({ name }) => name), ...failed]);
  const rows = [...readProofs().filter(({ name }) => !replaced.has(name)), ...proofs]
    .map(({ name, result, stamp }) => `| ${name} | ${result} | ${stamp} |`)
    .toSorted(new Intl.Collator('en', { numeric: true }).compare);
  const [text = '', table] = readFileSync(PAGE, 'utf8').split(HEAD);
  if (table === undefined) throw new Error(`${PAGE} has no table with the head\n${HEAD}`);
  writeFileSync(PAGE, `${text}${HEAD}${rows.map(row => `${row}\n`).join('')}`);
}
