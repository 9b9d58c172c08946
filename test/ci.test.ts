import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from './support/inbox.js';

const ROOT = join(import.meta.dirname, '..');

/** What `.ci/run` does with a run of tests, without what comes before it. */
const FORGIVES = /^# Up to three[^]*?(?=^# become)/m.exec(readFileSync(join(ROOT, '.ci/run'), 'utf8'))?.[0];

/** Runs that write down what failed in them; what follows alone passes. */
function judge(...runs: readonly string[]) {
  const copies = temporaryFolder();
  writeFileSync(join(copies, 'npx'), `#!/bin/sh\necho "$@" >>'${copies}/again'\n`);
  chmodSync(join(copies, 'npx'), 0o755);
  const script = `set -euo pipefail; copies='${copies}'; ${FORGIVES}\n${runs.join('\n')}\nconfess`;
  const env = { PATH: `${copies}:${process.env['PATH'] ?? ''}` };
  return { copies, ...spawnSync('bash', ['-c', script], { env, encoding: 'utf8' }) };
}

const FAILS = (tests: string) => `check sh -c 'printf "${tests}" >"$FAILED_FILES"; exit 1'`;
const PASSES = (tests: string) => `check sh -c 'printf "${tests}" >"$FAILED_FILES"'`;

test('what failed at first and passed alone is a list at the end, which must be empty for a release', () => {
  const { status, stdout, copies } = judge(
    FAILS('test/a.test.ts\\tone\\ntest/a.test.ts\\ttwo\\n'),
    PASSES(''),
  );
  expect(status).toBe(0);
  expect(readFileSync(join(copies, 'again'), 'utf8')).toBe('vitest run test/a.test.ts\n');
  const version = execFileSync(process.execPath, ['--version'], { encoding: 'utf8' }).trim();
  expect(stdout.split('\n').slice(-4, -1)).toEqual([
    'Failed at first and passed later. This list must be empty for a release:',
    `- Node ${version}: test/a.test.ts: one`,
    `- Node ${version}: test/a.test.ts: two`,
  ]);
});

test('a test that passed only when it was tried again within its run is in that list', () => {
  expect(judge(PASSES('test/a.test.ts\\tone\\n')).stdout).toMatch(/later\. This list .*\n- .*: one\n$/);
});

test('where nothing failed the list is said to be empty', () => {
  expect(judge(PASSES('')).stdout).toMatch(
    /\nFailed at first and passed later: nothing\.\n$|^Failed .* nothing\.\n$/,
  );
});

test('what fails in more than three files fails', () => {
  const four = ['a', 'b', 'c', 'd'].map(name => `test/${name}.test.ts\\tone\\n`).join('');
  expect(judge(FAILS(four))).toMatchObject({ status: 1, stdout: expect.not.stringContaining('later') });
});

test('tests that failed, files that did not come to a test and tests that were tried again are written down', () => {
  const folder = temporaryFolder();
  const vitest = pathToFileURL(join(ROOT, 'node_modules/vitest/dist/index.js')).href;
  const file = (name: string, text: string) =>
    writeFileSync(join(folder, `${name}.test.mjs`), `import { test } from '${vitest}';\n${text}`);
  file('red', "test('falls', () => { throw new Error('x'); });\ntest('stands', () => undefined);");
  file('none', "throw new Error('at once');");
  file(
    'again',
    "let tries = 0;\ntest('falls once', { retry: 1 }, () => { if (tries++ === 0) throw new Error('x'); });",
  );
  const failed = join(folder, 'failed');
  const reporter = pathToFileURL(join(ROOT, 'test/support/failed-files.ts')).href;
  const config = join(folder, 'vitest.config.ts');
  const reporters = 'export default { test: { reporters: [new FailedFiles()] } };';
  writeFileSync(config, `import { FailedFiles } from '${reporter}';\n${reporters}\n`);
  const argv = ['vitest', 'run', '--root', folder, '--config', config];
  const { PATH = '' } = process.env;
  spawnSync('npx', argv, { cwd: ROOT, env: { PATH, HOME: folder, FAILED_FILES: failed }, encoding: 'utf8' });
  expect(readFileSync(failed, 'utf8').trim().split('\n').toSorted()).toEqual([
    'again.test.mjs\tfalls once',
    'none.test.mjs\tthe file as a whole',
    'red.test.mjs\tfalls',
  ]);
});
