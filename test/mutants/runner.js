// The vitest runner of mutation tests: repeats each quick test with each mutant that it reaches, in the same process.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { TestRunner } from 'vitest';

/** @import { RunnerTestCase as Test } from 'vitest' */
/**
 * Each step is one more run of a test; it receives the state in which the previous run ended.
 * @typedef {Generator<undefined, string, string>} Runs
 */

const { MUTANTS = '', TMPDIR } = process.env;
/** @type {Set<number>} */
const initial = new Set(JSON.parse(MUTANTS));
/** Mutants whose code ran while the test file was loaded.
 * @type {Set<number>} */
const loaded = new Set();
let [active, reached] = [initial, loaded];
/** @type {Runs | undefined} */
let runs;

/**
 * Milliseconds that the current run may still take, in processor time or in turns of the event loop: a busy machine uses none of them.
 * Another thread ends the process when none are left.
 */
const budget = new Float64Array(new SharedArrayBuffer(8)).fill(60_000);
const budgetMs = () => budget[0] ?? 0;
const watchdog = `const { workerData: budget } = require('node:worker_threads');
let total = 0;
setInterval(() => {
  budget[0] -= 10 - total + (total = process.cpuUsage().user / 1000);
  if (budget[0] < 0) process.kill(process.pid, 'SIGKILL');
}, 1000);`;
new Worker(watchdog, { eval: true, workerData: budget }).unref();
setInterval(() => budget.fill(budgetMs() - 100), 100).unref();

/** Called by each place that is mutated. Records that the place was reached. */
/** @param {number} number */
const isActive = number => reached.add(number) && active.has(number);
/** @type {Set<Map<unknown, unknown>>} */
const caches = new Set();
/** Called by each cache of compiled statements when it is created. */
/** @param {Map<unknown, unknown>} cache */
const clearWithMutants = cache => {
  caches.add(cache);
  return cache;
};
Object.assign(globalThis, { __mutant: isActive, __clearWithMutants: clearWithMutants });

/** @type {(id: string | number, text: string) => void} */
const writeRecord = (id, text) => writeFileSync(`${TMPDIR}/${id}`, text);
/** @type {(id: string | number) => string} */
const readRecord = id => (existsSync(`${TMPDIR}/${id}`) ? readFileSync(`${TMPDIR}/${id}`, 'utf8') : 'new');

/**
 * Runs a test without mutants, and if it is quick, once more with each mutant that it reaches. Mutants that other tests left alive are active
 * eight at a time, unless they have ended the process so before.
 * @param {Test} test
 * @returns {Runs}
 */
function* runRepeatedly({ id, retry }) {
  reached = new Set();
  const state = yield;
  const reachedByTest = [...reached];
  const isRepeated = Boolean(retry) && state !== 'fail' && budgetMs() > 57_000 && (yield) !== 'fail';
  /** @param {string} record */
  const listMutants = record =>
    isRepeated ? reachedByTest.filter(mutant => readRecord(mutant) === record) : [];
  const alone = new Set(readRecord(`${id}.alone`).split(' '));
  for (const mutant of listMutants('alone')) {
    writeRecord(`${id}.alone`, [...alone.add(String(mutant))].join(' '));
    yield* runWith([mutant], 'killed');
  }
  for (const mutant of listMutants('new')) yield* runWith([mutant], 'alone');
  const together = listMutants('survived').filter(mutant => !alone.has(String(mutant)));
  while (together.length > 0) yield* runWith(together.splice(0, 8), 'alone');
  if (state !== 'fail')
    writeRecord(id, JSON.stringify({ loaded: [...loaded], reached: reachedByTest, isRepeated }));
  [active, reached] = [initial, loaded];
  return state;
}

/**
 * Runs a test with several mutants active, and then without. If it still fails then, the mutants have damaged the process: it ends, and each
 * mutant is tried alone in a new one.
 * @param {number[]} mutants
 * @param {string} stateIfDamaged
 * @returns {Generator<undefined, void, string>}
 */
function* runWith(mutants, stateIfDamaged) {
  /** @param {string} text */
  const record = text => mutants.forEach(mutant => writeRecord(mutant, text));
  const isOne = mutants.length === 1;
  record(isOne ? 'timed out' : 'alone');
  active = new Set(mutants);
  const isNoticed = (yield) === 'fail';
  active = initial;
  record(isNoticed ? stateIfDamaged : 'survived');
  if (isNoticed && (yield) === 'fail') process.kill(process.pid, 'SIGKILL');
  if (isNoticed && isOne) record('killed');
  else if (isNoticed)
    for (const half of [mutants.splice(0, mutants.length / 2), mutants]) yield* runWith(half, stateIfDamaged);
}

// oxlint-disable-next-line no-default-export
export default class extends TestRunner {
  /**
   * @override
   * @param {Test} test
   */
  onBeforeRunTask(test) {
    if (test.retry && existsSync(`${TMPDIR}/${test.id}`)) test.mode = 'skip';
    return super.onBeforeRunTask(test);
  }
  /**
   * @override
   * @param {Test} test
   * @param {{ retry: number }} [attempt]
   */
  onBeforeTryTask(test, attempt) {
    if (attempt?.retry === 0) (runs = runRepeatedly(test)).next('');
    budget.fill(active === initial ? 60_000 : 10_000);
    for (const cache of caches) cache.clear();
    super.onBeforeTryTask(test);
  }
  /** @param {Test} test */
  onAfterRetryTask({ result }) {
    if (runs === undefined || result === undefined) return;
    const { done, value } = runs.next(result.state);
    Object.assign(result, { state: done ? value : 'fail', errors: done ? [] : [new Error('run again')] });
  }
}
