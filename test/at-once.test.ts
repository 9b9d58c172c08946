import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const RUN = join(import.meta.dirname, '../tools/at-once.js');

function runAtOnce(...names: string[]) {
  return spawnSync(process.execPath, [RUN, ...names], { encoding: 'utf8' });
}

test('scripts that are run at once fail where one of them does, and each is named that did', () => {
  expect(runAtOnce('tools:postgres')).toMatchObject({ status: 0 });
  const { status, stderr } = runAtOnce('nothing-of-this-name', 'tools:postgres');
  expect(status).toBe(1);
  expect(stderr.match(/npm run \S+ ended with \d+/g)).toEqual(['npm run nothing-of-this-name ended with 1']);
});
