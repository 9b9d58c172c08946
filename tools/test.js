// node tools/test.js [VITEST ARGUMENTS]: runs the tests. Each file that fails is run once more, alone: a file that fails twice fails the
// run; a file that passes the second time is listed at the end. That list must be empty for a release.
import { spawnSync } from 'node:child_process';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** If more files fail, none is run again: the program is probably broken, and the machine not just busy. */
const MAX_RETRIED_FILES = 3;

const args = process.argv.slice(2);
/** Options such as --project=unit, without the names of files. */
const options = args.filter(arg => /^--[\w-]+=/.test(arg));
const folder = mkdtempSync(join(tmpdir(), 'carbon-mirror-test-'));
try {
  process.exitCode = runTests();
} finally {
  rmSync(folder, { recursive: true });
}

function runTests() {
  const failedList = join(folder, 'failed');
  const status = runVitest(args, { FAILED_FILES: failedList });
  const failed = existsSync(failedList) ? readFileSync(failedList, 'utf8').trimEnd().split('\n') : [];
  const files = [...new Set(failed.map(line => line.split('\t', 1).join()))];
  if (status !== 0) {
    if (files.length === 0 || files.length > MAX_RETRIED_FILES) return status;
    for (const file of files) {
      process.stdout.write(`\nRunning ${file} once more, alone.\n`);
      if (runVitest([...options, file]) !== 0) return 1;
    }
  }
  reportFlaky(failed);
  return 0;
}

/**
 * @param {readonly string[]} vitestArgs
 * @param {Readonly<Record<string, string>>} [env]
 */
function runVitest(vitestArgs, env = {}) {
  const { status } = spawnSync('npx', ['vitest', 'run', ...vitestArgs], {
    env: { ...process.env, ...env },
    stdio: 'inherit',
  });
  return status ?? 1;
}

/**
 * Prints the tests that failed first and passed later, and appends them to the file that FLAKY_TESTS names.
 * @param {readonly string[]} failed
 */
function reportFlaky(failed) {
  if (failed.length === 0) {
    process.stdout.write('\nFailed at first and passed later: nothing.\n');
    return;
  }
  const lines = failed.map(line => `- ${line.replace('\t', ': ')}\n`).join('');
  process.stdout.write(`\nFailed at first and passed later (must be empty for a release):\n${lines}`);
  const list = process.env['FLAKY_TESTS'];
  if (list !== undefined) appendFileSync(list, lines);
}
