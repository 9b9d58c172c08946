import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from './support/inbox.js';

const ROOT = join(import.meta.dirname, '..');

function prove(...codes: string[]) {
  return spawnSync(process.execPath, ['tools/prove.js', ...codes], { cwd: ROOT, encoding: 'utf8' });
}

test('prove fails for a promise that no test has in its title', () => {
  expect(prove('T999')).toMatchObject({ status: 1, stderr: expect.stringContaining('T999') });
});

test('prove refuses a word that is not a code', () => {
  expect(prove('T1x').status).toBe(2);
  expect(prove().status).toBe(2);
});

test('prove runs the tests of a promise and counts them', () => {
  const { status, stdout } = prove('T05');
  expect(stdout).toMatch(/\nT05: [1-9]\d* passed, 0 failed\n$/);
  expect(status).toBe(0);
});

test('the table of last proofs replaces rows of the same name, removes failed ones and stays sorted', () => {
  const folder = temporaryFolder();
  const page = join(folder, 'docs/promises.md');
  const head = '# Promises\n\n| promise or torture test | result | commit, day |\n|---|---|---|\n';
  mkdirSync(join(folder, 'docs'));
  writeFileSync(page, `${head}| T9 | 1 passed | a |\n| T10 | 1 passed | a |\n| T11 | 1 passed | a |\n`);
  const script = `import { writeProofs } from '${join(ROOT, 'tools/last-proofs.js')}';
    writeProofs([{ name: 'T10', result: '2 passed', stamp: 'b' }, { name: 'P1', result: '3 passed', stamp: 'b' }], ['T11']);`;
  const argv = ['--input-type=module', '--eval', script];
  expect(spawnSync(process.execPath, argv, { cwd: folder }).status).toBe(0);
  expect(readFileSync(page, 'utf8')).toBe(
    `${head}| P1 | 3 passed | b |\n| T9 | 1 passed | a |\n| T10 | 2 passed | b |\n`,
  );
});
