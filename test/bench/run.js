// npm run bench -- [--write] [NAME [PART ...]] [smallest]: runs test/bench/NAME.js against dist/, or all benchmarks, and prints a table of
// all figures that have a bound.
//
//   PART       is passed on to the benchmark
//   --write    also writes the figures to docs/figures.md, with the commit, the day and the machine
//   smallest   only checks that a benchmark still runs: it measures next to nothing, and no bound of time, share or memory applies
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { IS_SMALLEST } from './parts/size.js';
import { writeFigures } from './parts/write-figures.js';

const args = process.argv.slice(2);
const isWritten = args.includes('--write') && !IS_SMALLEST;
const newStamp = isWritten ? stamp() : null;
const [name, ...parts] = args.filter(arg => arg !== '--write' && arg !== 'smallest');
const names = readdirSync(new URL('.', import.meta.url))
  .filter(file => file.endsWith('.js') && file !== 'run.js')
  .map(file => file.slice(0, -'.js'.length));

if (name !== undefined && !names.includes(name)) {
  process.stderr.write(
    `usage: npm run bench -- [--write] [NAME [PART ...]] [smallest]\nthere are: ${names.join(', ')}\n`,
  );
  process.exitCode = 2;
} else if (name === undefined || isWritten) process.exitCode = runAll(name === undefined ? names : [name]);
else await import(`./${name}.js`);

/**
 * Runs benchmarks one after the other and prints their figures. Returns the exit code.
 * @param {readonly string[]} benches
 */
function runAll(benches) {
  const runs = benches.map(run);
  const figures = runs.flatMap(each => each.figures);
  process.stdout.write('\n== figures with a bound\n');
  for (const { name: title, value, unit, words: bound, holds } of figures) {
    const formatted = `${value.toFixed(2)} ${unit}`;
    process.stdout.write(`${holds ? '  ' : '! '}${title.padEnd(84)} ${formatted.padStart(16)}  ${bound}\n`);
  }
  // A benchmark that failed may have measured only some of its figures.
  const complete = parts.length > 0 ? [] : benches.filter((_, index) => runs[index]?.status === 0);
  if (newStamp !== null) writeFigures(figures, newStamp, complete);
  return runs.every(({ status }) => status === 0) ? 0 : 1;
}

/**
 * Runs a benchmark in a process of its own, and returns its figures.
 * @param {string} bench
 */
function run(bench) {
  process.stdout.write(`\n== ${bench}\n`);
  const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-bench-'));
  const file = join(folder, 'figures');
  const env = { ...process.env, BENCH_FIGURES: file };
  const argv = [fileURLToPath(import.meta.url), bench, ...parts, ...(IS_SMALLEST ? ['smallest'] : [])];
  const { status } = spawnSync(process.execPath, argv, {
    env,
    stdio: 'inherit',
  });
  const lines = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  rmSync(folder, { recursive: true });
  /** @type {import('./parts/write-figures.js').Figure[]} */
  const figures = lines.map(line => ({ bench, ...JSON.parse(line) }));
  return { status, figures };
}

/** Describes the measured program, the day, the machine, and how busy the machine was. */
function stamp() {
  const commit = execFileSync('git', ['rev-parse', '--short=7', 'HEAD'], { encoding: 'utf8' }).trim();
  const model = cpus()[0]?.model ?? 'an unknown processor';
  const day = new Date().toISOString().slice(0, 10);
  const load = `load ${(loadavg()[0] ?? 0).toFixed(1)}`;
  return `${commit}, ${day}, ${availableParallelism()} of ${model}, ${load}, Node ${process.versions.node}`;
}
