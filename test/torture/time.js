// npm run torture -- time [TIMES] [LOOPS] [FILES]: runs the test files that use timers or deadlines TIMES times on a busy machine, with LOOPS
// busy loops and as many test workers. 0 times only lists the files. Prints at the end which tests failed, and how often.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSizes } from './read-sizes.js';

/** Files with timers of their own. Tests that only poll have generous deadlines anyway. */
const USES_TIMERS = /\bset(?:Timeout|Interval)\b|timers\/promises|performance\.now|AbortSignal\.timeout/;

const [times, loops, ...namedFiles] = readSizes(
  ['20', '28'],
  ['1', '1', 'test/webhook/group-commit.test.ts'],
);
const timedFiles = readdirSync('test', { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.test.ts') && !/node_modules|^browser/.test(file))
  .map(file => `test/${file}`)
  .filter(file => USES_TIMERS.test(readFileSync(file, 'utf8')));
const files = namedFiles.length > 0 ? namedFiles : timedFiles.toSorted();
process.stdout.write(`${files.length} files use timers: ${files.join(' ')}\n`);

const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-torture-'));
const failed = join(folder, 'failed');
const busy = Array.from({ length: Number(times) > 0 ? Number(loops) : 0 }, () =>
  spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
);
const env = { ...process.env, FAILED_FILES: failed };
let begun = 0;
async function play() {
  while (begun < Number(times)) {
    process.stdout.write(`run ${(begun += 1)} of ${times}, beside ${loops} busy loops\n`);
    const argv = ['vitest', 'run', `--maxWorkers=${loops}`, ...files];
    await once(spawn('npx', argv, { env, stdio: 'inherit' }), 'exit');
  }
}

/** Four runs at once: near its end, each run waits for one slow file. */
try {
  await Promise.all(Array.from({ length: 4 }, play));
} finally {
  for (const loop of busy) loop.kill('SIGKILL');
}
const failures = existsSync(failed) ? readFileSync(failed, 'utf8').trim().split('\n') : [];
for (const test of new Set(failures)) {
  process.stdout.write(
    `${failures.filter(each => each === test).length} failures: ${test.replace('\t', ': ')}\n`,
  );
}
process.stdout.write(`${failures.length} failures in ${times} runs\n`);
process.exitCode = failures.length > 0 ? 1 : 0;
rmSync(folder, { recursive: true });
