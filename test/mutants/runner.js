import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { TestRunner } from 'vitest';

const { MUTANT, TMPDIR } = process.env;
const loaded = new Set();
let [alive, seen, tries] = [Number(MUTANT), loaded];

/** Milliseconds to work or to wait, by the turns that it gets: a busy machine uses none up. Another thread ends it then. */
const left = new Float64Array(new SharedArrayBuffer(8)).fill(60_000);
const watch = `const { workerData: left } = require('node:worker_threads');
let total = 0;
setInterval(() => {
  left[0] -= 10 - total + (total = process.cpuUsage().user / 1000);
  if (left[0] < 0) process.kill(process.pid, 'SIGKILL');
}, 1000);`;
new Worker(watch, { eval: true, workerData: left }).unref();
setInterval(() => (left[0] -= 100), 100).unref();

/** Each place that is mutated asks whether it lives, and by asking says that it was reached. */
Object.assign(globalThis, { __mutant: number => seen.add(number) && number === alive });

/** A quick test, again with each mutant that it reaches. One that stays red without it ends the process. */
function* triesOf({ id, retry }) {
  seen = new Set();
  const state = yield;
  const reached = [...loaded, ...seen];
  for (const mutant of retry && state !== 'fail' && left[0] > 59_000 ? [...seen] : []) {
    const file = `${TMPDIR}/${mutant}`;
    if (existsSync(file)) continue;
    writeFileSync(file, 'timed out');
    alive = mutant;
    const isNoticed = (yield) === 'fail';
    alive = NaN;
    writeFileSync(file, '');
    if (isNoticed && (yield) === 'fail') process.kill(process.pid, 'SIGKILL');
    if (isNoticed) writeFileSync(file, 'killed');
    else rmSync(file);
  }
  if (state !== 'fail') writeFileSync(`${TMPDIR}/${id}`, JSON.stringify(reached));
  [alive, seen] = [Number(MUTANT), loaded];
  return state;
}

// oxlint-disable-next-line no-default-export
export default class extends TestRunner {
  onBeforeRunTask(test) {
    if (test.retry && existsSync(`${TMPDIR}/${test.id}`)) test.mode = 'skip';
    return super.onBeforeRunTask(test);
  }
  onBeforeTryTask(test, { retry }) {
    if (retry === 0) (tries = triesOf(test)).next();
    left.fill(retry > 0 ? 3_000 : 60_000);
    super.onBeforeTryTask(test);
  }
  onAfterRetryTask({ result }) {
    const { done, value } = tries.next(result.state);
    Object.assign(result, { state: done ? value : 'fail', errors: done ? [] : [new Error('again')] });
  }
}
