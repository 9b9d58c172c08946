import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from './support/inbox.js';

const ROOT = join(import.meta.dirname, '..');
const urlOf = (path: string) => pathToFileURL(join(ROOT, path)).href;

/** Runs `tools/test.js` in a folder with these test files, each with the body of its only test. */
function runTests(bodies: Readonly<Record<string, string>>) {
  const folder = temporaryFolder();
  const config = join(folder, 'vitest.config.ts');
  const reporter = urlOf('test/support/failed-files.ts');
  const reporters = 'export default { test: { reporters: [new FailedFiles()] } };';
  writeFileSync(config, `import { FailedFiles } from '${reporter}';\n${reporters}\n`);
  for (const [name, body] of Object.entries(bodies)) {
    const imports = `import { existsSync, writeFileSync } from 'node:fs';\nimport { test } from '${urlOf('node_modules/vitest/dist/index.js')}';`;
    writeFileSync(join(folder, `${name}.test.mjs`), `${imports}\ntest('works', () => {${body}});\n`);
  }
  const flakyList = join(folder, 'flaky');
  const argv = [join(ROOT, 'tools/test.js'), `--root=${folder}`, `--config=${config}`];
  const env = { PATH: process.env['PATH'], HOME: folder, FLAKY_TESTS: flakyList };
  const { status, stdout } = spawnSync(process.execPath, argv, { cwd: ROOT, env, encoding: 'utf8' });
  return { status, stdout, flaky: existsSync(flakyList) ? readFileSync(flakyList, 'utf8') : '' };
}

const PASSES = '';
const FAILS = "throw new Error('broken');";
/** Fails in the first run and passes in the second. */
const FAILS_ONCE = `
  const mark = new URL('once', import.meta.url);
  if (!existsSync(mark)) { writeFileSync(mark, ''); throw new Error('once'); }`;

test('a test file that fails once and passes alone is listed as flaky, and the run succeeds', () => {
  const { status, stdout, flaky } = runTests({ flaky: FAILS_ONCE, steady: PASSES });
  expect(flaky).toBe('- flaky.test.mjs: works\n');
  expect(stdout).toContain(
    'Failed at first and passed later (must be empty for a release):\n- flaky.test.mjs: works\n',
  );
  expect(status).toBe(0);
});

test('a test file that fails twice fails the run', () => {
  expect(runTests({ broken: FAILS, steady: PASSES })).toMatchObject({ status: 1, flaky: '' });
});

test('more than three failing files fail the run without a second try', () => {
  const { status, stdout } = runTests({ a: FAILS_ONCE, b: FAILS, c: FAILS, d: FAILS });
  expect(status).toBe(1);
  expect(stdout).not.toContain('once more');
});

test('a run without failures says that nothing was flaky', () => {
  const { status, stdout } = runTests({ steady: PASSES });
  expect(stdout.trimEnd().split('\n').at(-1)).toBe('Failed at first and passed later: nothing.');
  expect(status).toBe(0);
});
