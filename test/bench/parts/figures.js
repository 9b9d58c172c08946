// Prints the figures of a benchmark, their bounds, and at the end the missed bounds.
import { appendFileSync, readFileSync } from 'node:fs';
import { IS_SMALLEST } from './size.js';

/**
 * @typedef {{ readonly atMost: number } | { readonly atLeast: number } | { readonly under: number }} Bound
 * @typedef {{ readonly floor: readonly number[], readonly ours: readonly number[] }} Sides milliseconds of each round
 */

/**
 * Returns whether a value meets its bound, and the text of that bound.
 * @param {number} value
 * @param {Bound} bound
 */
function check(value, bound) {
  if ('atMost' in bound) return { holds: value <= bound.atMost, words: `at most ${bound.atMost}` };
  if ('atLeast' in bound) return { holds: value >= bound.atLeast, words: `at least ${bound.atLeast}` };
  return { holds: value < bound.under, words: `under ${bound.under}` };
}

/** Creates the functions that print figures, and at the end the missed bounds. */
export function createFigures() {
  /** @type {string[]} */
  const missed = [];

  /**
   * Prints a figure without a bound.
   * @param {string} name
   * @param {number} value
   * @param {string} unit
   */
  function show(name, value, unit) {
    const digits = Math.abs(value) < 10 && !Number.isInteger(value) ? 2 : 0;
    const text = value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
    process.stdout.write(`  ${name.padEnd(84)} ${text.padStart(12)} ${unit}\n`);
  }

  /**
   * Prints a figure and its bound. At the smallest size only bounds of zero apply, because times and shares mean nothing there.
   * @param {string} name
   * @param {number} value
   * @param {string} unit
   * @param {Bound} bound
   */
  function demand(name, value, unit, bound) {
    const { holds, words } = check(value, bound);
    const mustBeZero = 'atMost' in bound && bound.atMost === 0;
    show(`${name} (${words})`, value, unit);
    if (!holds && (!IS_SMALLEST || mustBeZero)) missed.push(`${name}: ${value.toFixed(2)} ${unit}, ${words}`);
    keep({ name, value, unit, words, holds });
  }

  /**
   * Compares our best round with the best round of the baseline (the floor): other processes on the machine can only add time.
   * @param {string} name
   * @param {Sides} sides
   * @param {Bound} bound
   */
  function compare(name, { floor, ours }, bound) {
    for (const [side, times] of Object.entries({ floor, ours })) {
      process.stdout.write(
        `  ${name}, ${side}: best ${best(times).toFixed(0)} ms of ${times.map(each => Math.round(each)).join(', ')}\n`,
      );
    }
    demand(name, best(ours) / best(floor), 'times', bound);
  }

  /** Prints the missed bounds, and sets the exit code. */
  function end() {
    for (const line of missed) process.stdout.write(`MISSED ${line}\n`);
    process.exitCode = missed.length === 0 ? 0 : 1;
  }

  return { show, demand, compare, end };
}

/**
 * Saves a figure for the table of all benchmarks.
 * @param {object} figure
 */
function keep(figure) {
  const { BENCH_FIGURES } = process.env;
  if (BENCH_FIGURES !== undefined) appendFileSync(BENCH_FIGURES, `${JSON.stringify(figure)}\n`);
}

/** @param {readonly number[]} values */
export function best(values) {
  return Math.min(...values);
}

/** @param {readonly number[]} values */
export function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;
}

/**
 * Returns how many milliseconds work takes.
 * @param {() => unknown} work
 */
export async function timed(work) {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

const TICK_MS = 10;

/**
 * Returns the processor time of a process so far, to which other processes on the machine add little.
 * @param {number | undefined} pid
 */
export function processorMs(pid) {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const [user, system] = rest.split(' ').slice(11, 13);
  return (Number(user) + Number(system)) * TICK_MS;
}

/**
 * Returns the peak memory. Does not use `maxRSS`, because that of a child begins at the size of its parent.
 * @param {number | string} [pid]
 */
export function peakMegabytes(pid = 'self') {
  return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1000;
}
