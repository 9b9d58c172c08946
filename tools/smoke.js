// node tools/smoke.js [NAME ...]: runs each benchmark and each torture test once at its smallest size. Benchmarks that support
// PostgreSQL run on it too. It prints the output of those that failed, and fails if any did. NAME is one argument of two words:
// node tools/smoke.js "bench fleet"
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { canCutPower } from '../test/support/power-cut.js';

const ROOT = join(import.meta.dirname, '..');
const named = process.argv.slice(2);
const all = [...findBenches(), ...findTortures()];
const waiting = named.length === 0 ? all : all.filter(run => named.includes(run.join(' ')));
if (waiting.length === 0)
  throw new Error(
    `There is no such benchmark or torture test. Choose from: ${all.map(run => run.join(' ')).join(', ')}`,
  );
/** @type {string[]} */
const failed = [];
await Promise.all(Array.from({ length: availableParallelism() }, runWaiting));
process.stdout.write(failed.length === 0 ? 'All of them passed.\n' : `Failed: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** @returns {string[][]} */
function findBenches() {
  return namesIn('bench').flatMap(name => {
    const supportsPostgres = readFileSync(join(ROOT, `test/bench/${name}.js`), 'utf8').includes(
      'withPostgres(',
    );
    const run = ['bench', name];
    return supportsPostgres ? [run, [...run, '--engine', 'postgres']] : [run];
  });
}

/** @returns {string[][]} */
function findTortures() {
  const names = namesIn('torture').filter(name => name !== 'power' || canCutPower());
  return names.map(name => ['torture', name]);
}

/**
 * Returns the names of the programs in a folder of test. A file with a hyphen in its name is a part of another one.
 * @param {string} folder
 */
function namesIn(folder) {
  return readdirSync(join(ROOT, 'test', folder))
    .filter(file => /^[a-z]+\.js$/.test(file) && file !== 'run.js')
    .map(file => file.slice(0, -'.js'.length));
}

/** Runs programs until none is left. */
async function runWaiting() {
  for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
    const name = run.join(' ');
    const startedAt = performance.now();
    const { code, output } = await runSmallest(run);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    process.stdout.write(`${code === 0 ? 'ok    ' : 'FAILED'} ${name}, ${seconds} s\n`);
    if (code === 0) continue;
    process.stdout.write(output);
    failed.push(name);
  }
}

/** @param {string[]} run */
async function runSmallest([folder = '', name = '', ...options]) {
  const argv = [`test/${folder}/run.js`, name, 'smallest', ...options];
  const child = spawn(process.execPath, argv, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] });
  /** @type {Promise<number>} */
  const ended = new Promise(resolve => child.once('close', code => resolve(code ?? 1)));
  const output = (await Promise.all([text(child.stdout), text(child.stderr)])).join('');
  return { code: await ended, output };
}
