import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

test('mutants tell what a law notices, what none notices, and what none reaches', () => {
  const runner = join(import.meta.dirname, 'mutants/run.js');
  const cwd = join(import.meta.dirname, 'fixtures/mutants');
  const { status, stdout } = spawnSync(process.execPath, [runner, 'door', '--json'], {
    cwd,
    encoding: 'utf8',
  });
  const { rooms, survivors } = JSON.parse(stdout);
  expect(rooms).toEqual([
    { room: 'door', places: 3, killed: 1, 'timed out': 0, survived: 1, 'not reached': 1 },
  ]);
  expect(survivors).toMatchObject([
    { file: 'src/door/open.ts', line: 6, state: 'not reached', reason: 'nobody asks' },
    { file: 'src/door/open.ts', line: 2, original: 'return age >= 18;', mutated: 'return age > 18;' },
  ]);
  expect(status).toBe(3);
});
