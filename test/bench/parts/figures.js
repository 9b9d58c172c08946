// What a benchmark says: figures, those with a bound beside it, and at the end which were missed.
import { appendFileSync, readFileSync } from 'node:fs';
import { IS_SMALLEST } from './size.js';

const BOUNDS = {
  atMost: (value, bound) => value <= bound,
  atLeast: (value, bound) => value >= bound,
  under: (value, bound) => value < bound,
};

export function createFigures() {
  const missed = [];

  function show(name, value, unit) {
    const digits = Math.abs(value) < 10 && !Number.isInteger(value) ? 2 : 0;
    const text = value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
    process.stdout.write(`  ${name.padEnd(84)} ${text.padStart(12)} ${unit}\n`);
  }

  /** `wanted` is one of { atMost, atLeast, under }. At the smallest size only what must be zero is demanded: times and shares say nothing there. */
  function demand(name, value, unit, wanted) {
    const [[kind, bound]] = Object.entries(wanted);
    const words = `${kind === 'atMost' ? 'at most' : kind === 'atLeast' ? 'at least' : 'under'} ${bound}`;
    const holds = BOUNDS[kind](value, bound);
    show(`${name} (${words})`, value, unit);
    if (!holds && (!IS_SMALLEST || bound === 0))
      missed.push(`${name}: ${value.toFixed(2)} ${unit}, ${words}`);
    keep({ name, value, unit, words, holds });
  }

  /** Neighbours on the machine can only add to a time: the best round says the most about the code. */
  function compare(name, { floor, ours }, wanted) {
    for (const [side, times] of Object.entries({ floor, ours })) {
      process.stdout.write(
        `  ${name}, ${side}: best ${best(times).toFixed(0)} ms of ${times.map(Math.round).join(', ')}\n`,
      );
    }
    demand(name, best(ours) / best(floor), 'times', wanted);
  }

  function end() {
    for (const line of missed) process.stdout.write(`MISSED ${line}\n`);
    process.exitCode = missed.length === 0 ? 0 : 1;
  }

  return { show, demand, compare, end };
}

/** For the table of all benchmarks. */
function keep(figure) {
  const { BENCH_FIGURES } = process.env;
  if (BENCH_FIGURES !== undefined) appendFileSync(BENCH_FIGURES, `${JSON.stringify(figure)}\n`);
}

export function best(values) {
  return Math.min(...values);
}

export function median(values) {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)];
}

export async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

const TICK_MS = 10;

/** What a process has had of all processors so far: neighbours on the machine add little to it. */
export function processorMs(pid) {
  const [, rest] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = rest.split(' ').slice(11, 13);
  return (Number(user) + Number(system)) * TICK_MS;
}

/** Not `maxRSS`: that of a spawned child begins at its parent's size. */
export function peakMegabytes(pid = 'self') {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000;
}
