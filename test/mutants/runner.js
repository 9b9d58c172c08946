import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { TestRunner } from 'vitest';

/** @import { RunnerTestCase as Test } from 'vitest' */
/**
 * Each step is one more try of a test; it is told the state in which the try before ended.
 * @typedef {Generator<undefined, string, string>} Tries
 */

const { MUTANTS = '', TMPDIR } = process.env;
/** @type {Set<number>} */
const asked = new Set(JSON.parse(MUTANTS));
/** @type {Set<number>} */
const loaded = new Set();
let [alive, seen] = [asked, loaded];
/** @type {Tries | undefined} */
let tries;

/** Milliseconds to work or to wait, by the turns that it gets: a busy machine uses none up. Another thread ends it then. */
const left = new Float64Array(new SharedArrayBuffer(8)).fill(60_000);
const leftMs = () => left[0] ?? 0;
const watch = `const { workerData: left } = require('node:worker_threads');
let total = 0;
setInterval(() => {
  left[0] -= 10 - total + (total = process.cpuUsage().user / 1000);
  if (left[0] < 0) process.kill(process.pid, 'SIGKILL');
}, 1000);`;
new Worker(watch, { eval: true, workerData: left }).unref();
setInterval(() => left.fill(leftMs() - 100), 100).unref();

/** Each place that is mutated asks whether it lives, and by asking says that it was reached. */
/** @param {number} number */
const isAlive = number => seen.add(number) && alive.has(number);
Object.assign(globalThis, { __mutant: isAlive });

/** @type {(id: string | number, text: string) => void} */
const note = (id, text) => writeFileSync(`${TMPDIR}/${id}`, text);
/** @type {(id: string | number) => string} */
const noted = id => (existsSync(`${TMPDIR}/${id}`) ? readFileSync(`${TMPDIR}/${id}`, 'utf8') : 'new');

/**
 * A quick test, again with each mutant that it reaches; of those that other tests left alive eight live at once, but for those that have ended the process so.
 * @param {Test} test
 * @returns {Tries}
 */
function* triesOf({ id, retry }) {
  seen = new Set();
  const state = yield;
  const reached = [...seen];
  const isQuick = Boolean(retry) && state !== 'fail' && leftMs() > 57_000 && (yield) !== 'fail';
  /** @param {string} word */
  const of = word => (isQuick ? reached.filter(mutant => noted(mutant) === word) : []);
  const apart = new Set(noted(`${id}.apart`).split(' '));
  for (const mutant of of('alone')) {
    note(`${id}.apart`, [...apart.add(String(mutant))].join(' '));
    yield* tried([mutant], 'killed');
  }
  for (const mutant of of('new')) yield* tried([mutant], 'alone');
  const together = of('survived').filter(mutant => !apart.has(String(mutant)));
  while (together.length > 0) yield* tried(together.splice(0, 8), 'alone');
  if (state !== 'fail') note(id, JSON.stringify({ loaded: [...loaded], reached, isQuick }));
  [alive, seen] = [asked, loaded];
  return state;
}

/**
 * What stays red without them ends the process: then each is tried alone, in a new one.
 * @param {number[]} mutants
 * @param {string} ended
 * @returns {Generator<undefined, void, string>}
 */
function* tried(mutants, ended) {
  /** @param {string} text */
  const all = text => mutants.forEach(each => note(each, text));
  const isOne = mutants.length === 1;
  all(isOne ? 'timed out' : 'alone');
  alive = new Set(mutants);
  const isNoticed = (yield) === 'fail';
  alive = asked;
  all(isNoticed ? ended : 'survived');
  if (isNoticed && (yield) === 'fail') process.kill(process.pid, 'SIGKILL');
  if (isNoticed && isOne) all('killed');
  else if (isNoticed)
    for (const half of [mutants.splice(0, mutants.length / 2), mutants]) yield* tried(half, ended);
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
    if (attempt?.retry === 0) (tries = triesOf(test)).next('');
    left.fill(alive === asked ? 60_000 : 10_000);
    super.onBeforeTryTask(test);
  }
  /** @param {Test} test */
  onAfterRetryTask({ result }) {
    if (tries === undefined || result === undefined) return;
    const { done, value } = tries.next(result.state);
    Object.assign(result, { state: done ? value : 'fail', errors: done ? [] : [new Error('again')] });
  }
}
