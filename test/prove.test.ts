import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

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
