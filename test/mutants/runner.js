import { existsSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { TestRunner } from 'vitest';

const { MUTANT, TMPDIR } = process.env;
const loaded = new Set();
let [alive, seen, tries] = [Number(MUTANT), loaded];

/** Milliseconds to work or to wait: another thread ends the process that has used them up, however busy the machine is. */
const left = new Float64Array(new SharedArrayBuffer(8)).fill(60_000);
const watch = `const { workerData: left } = require('node:worker_threads');
let total = 0;
setInterval(() => {
  const used = -total + (total = process.cpuUsage().user / 1000);
  if ((left[0] -= used < 20 ? 1000 : used) < 0) process.kill(process.pid, 'SIGKILL');
}, 1000);`;
new Worker(watch, { eval: true, workerData: left }).unref();

/** Each place that is mutated asks whether it lives, and by asking says that it was reached. */
Object.assign(globalThis, { __mutant: number => seen.add(number) && number === alive });

/** A quick test, again with each mutant that it reaches. One that stays red without it ends the process. */
function* triesOf({ meta, retry }) {
  const start = Date.now();
  seen = new Set();
  const state = yield;
  meta.reached = [...loaded, ...seen];
  const isTried = retry && state !== 'fail' && Date.now() - start < 1000;
  for (const mutant of isTried ? [...seen] : []) {
    alive = mutant;
    if (existsSync(`${TMPDIR}/killed-${mutant}`) || (yield) !== 'fail') continue;
    alive = NaN;
    if ((yield) === 'fail') process.kill(process.pid, 'SIGKILL');
    writeFileSync(`${TMPDIR}/killed-${mutant}`, '');
  }
  [alive, seen] = [Number(MUTANT), loaded];
  return state;
}

// oxlint-disable-next-line no-default-export
export default class extends TestRunner {
  onBeforeTryTask(test, { retry }) {
    if (retry === 0) (tries = triesOf(test)).next();
    left.fill(retry > 0 ? 5_000 : 20_000);
    super.onBeforeTryTask(test);
  }

  onAfterRetryTask({ result }) {
    const { done, value } = tries.next(result.state);
    Object.assign(result, { state: done ? value : 'fail', errors: done ? [] : [new Error('again')] });
  }
}
