import { existsSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { TestRunner } from 'vitest';

const { MUTANT = '-1', STATES } = process.env;
const isAlone = MUTANT >= 0;
const { now } = Date;
const [outside, inside, current] = [new Set(), new Set(), new Set()];
let seen = outside;

/** Until when which mutant may live: another thread then ends this process, whatever it does. */
const alive = new Float64Array(new SharedArrayBuffer(16));
const live = (mutant, forMs = 30_000) => Object.assign(alive, [now() + forMs, mutant]);
const watch = `const { alive, STATES } = require('node:worker_threads').workerData;
setInterval(() => {
  if (alive[1] < 0 || Date.now() < alive[0]) return;
  require('node:fs').writeFileSync(STATES + alive[1], 'timed out');
  process.kill(process.pid, 'SIGKILL');
}, 100);`;
live(MUTANT);
new Worker(watch, { eval: true, workerData: { alive, STATES } }).unref();

/** Each place that is mutated asks whether it lives, and by asking says that it was reached. */
Object.assign(globalThis, { __mutant: number => seen.add(number) && number === alive[1] });

/** A test, again with each mutant that it reaches. Where it stays red without one, a process for each mutant decides. */
function* triesOf({ file }) {
  const start = now();
  current.clear();
  const isRed = yield;
  if (isRed) file.meta.isRed = true;
  const forMs = 10_000 + 5 * (now() - start);
  for (const mutant of isRed ? [] : new Set(current)) {
    inside.add(mutant);
    if (existsSync(STATES + mutant) || !(yield live(mutant, forMs))) continue;
    const isRedWithout = yield live(-1);
    writeFileSync(STATES + mutant, isRedWithout ? 'doubtful' : 'killed');
    if (isRedWithout) process.kill(process.pid, 'SIGKILL');
  }
  live(-1);
}

// oxlint-disable-next-line no-default-export
export default class extends TestRunner {
  async onBeforeRunTask(test) {
    await super.onBeforeRunTask(test);
    if (!isAlone) test.retry = Infinity;
    this.tries = triesOf(test);
    this.tries.next();
  }

  onBeforeTryTask(test) {
    seen = current;
    if (isAlone) live(MUTANT);
    super.onBeforeTryTask(test);
  }

  onAfterRetryTask({ fails, result }) {
    seen = outside;
    if (isAlone) return;
    const { done } = this.tries.next((result.state === 'fail') !== Boolean(fails));
    Object.assign(result, { state: done ? 'pass' : 'fail', errors: [new Error('again')] });
  }

  onAfterRunSuite(suite) {
    Object.assign(suite.meta, { inside: [...inside], outside: [...outside] });
    return super.onAfterRunSuite(suite);
  }
}
