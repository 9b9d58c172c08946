// npm run prove -- CODE [CODE …] [--write] | all [--write]: runs the tests that prove these promises of docs/promises.md (T17, P03), on
// SQLite, on PostgreSQL and in the browser. It fails when a test fails, when all tests of a promise were skipped, or when a promise has no
// test. `--write` records the results in the table of that page.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { listPromises, writeProofs } from './last-proofs.js';
import { createStamp } from './stamp.js';

/** @typedef {{ file: string, fullName: string, state: string }} TestResult */
/** @typedef {{ testResults: { name: string, assertionResults: { fullName: string, status: string }[] }[] }} Report */

const words = process.argv.slice(2);
const isWritten = words.includes('--write');
const named = words.filter(word => word !== '--write');
const codes = named.join() === 'all' ? listPromises() : named;
const stamp = isWritten ? createStamp() : '';
if (codes.length === 0 || codes.some(code => !/^[TP]\d{2,3}$/.test(code))) {
  process.stderr.write(
    'usage: npm run prove -- CODE [CODE ...] [--write], or: npm run prove -- all [--write]\nA code is T or P and a number; docs/promises.md lists them.\n',
  );
  process.exit(2);
}

const filesOf = new Map(codes.map(code => [code, findTestFiles(code)]));
const unproved = codes.filter(code => filesOf.get(code)?.length === 0);
if (unproved.length > 0) {
  process.stderr.write(`No test has ${unproved.join(' or ')} in its title, so nothing proves it.\n`);
  process.exit(1);
}
process.exitCode = prove();

/**
 * Returns the test files that have a promise's code in a title.
 * @param {string} code
 */
function findTestFiles(code) {
  const title = new RegExp(`['"\`](?:[TP]\\d+ )*${code} `);
  return readdirSync('test', { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.test.ts') && !file.includes('node_modules'))
    .map(file => join('test', file))
    .filter(file => title.test(readFileSync(file, 'utf8')));
}

/** Runs the tests of all promises, and returns the exit code. */
function prove() {
  const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-prove-'));
  const output = join(folder, 'results.json');
  const files = [...new Set([...filesOf.values()].flat())];
  const titles = codes.map(code => `\\b${code} `).join('|');
  const argv = [
    'vitest',
    'run',
    '-t',
    titles,
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${output}`,
    ...files,
  ];
  try {
    const { status } = spawnSync('npx', argv, { stdio: 'inherit' });
    /** @type {Report} */
    const { testResults } = JSON.parse(readFileSync(output, 'utf8'));
    const tests = testResults.flatMap(({ name, assertionResults }) =>
      assertionResults.map(({ fullName, status: state }) => ({ file: relative('.', name), fullName, state })),
    );
    const proofs = codes.map(code => ({ name: code, ...reportCode(code, tests), stamp }));
    const proved = proofs.filter(({ isProved }) => isProved);
    const failed = proofs.filter(({ isProved }) => !isProved).map(({ name }) => name);
    if (isWritten) writeProofs(status === 0 ? proved : [], failed);
    return status === 0 && failed.length === 0 ? 0 : 1;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Prints how many tests of a promise passed and failed. The promise is proved if at least one passed and none failed. A test that ran on
 * both engines counts twice.
 * @param {string} code
 * @param {readonly TestResult[]} tests
 */
function reportCode(code, tests) {
  const own = tests.filter(({ fullName }) => new RegExp(`\\b${code} `).test(fullName));
  /** @param {string} state */
  const count = state => own.filter(test => test.state === state).length;
  const [passed, failed] = [count('passed'), count('failed')];
  process.stdout.write(`${code}: ${passed} passed, ${failed} failed\n`);
  return { isProved: passed > 0 && failed === 0, result: `${passed} passed` };
}
