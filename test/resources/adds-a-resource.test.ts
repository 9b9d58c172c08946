import { execFile } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/inbox.js';
import { long } from '../support/long.js';

const ROOT = join(import.meta.dirname, '../..');
const PATCH = join(ROOT, 'test/fixtures/adds-a-resource.patch');
const COPIED = ['src', 'migrations', 'test/support', 'test/resources', 'test/tsconfig.json'];
const ALSO = ['package.json', 'tsconfig.json', 'vitest.config.ts'];

const run = promisify(execFile);

/** The sources as they would be with one list more. */
async function withNinthList(): Promise<string> {
  const folder = temporaryFolder();
  for (const name of [...COPIED, ...ALSO]) cpSync(join(ROOT, name), join(folder, name), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await run('git', ['apply', PATCH], { cwd: folder });
  return folder;
}

/** What a program that failed has said. */
function outputOf(error: unknown): { readonly stdout: string } {
  return { stdout: String(Object(error)['stdout'] ?? error) };
}

test('a new list is its model, its parser, a method of the client, a migration and its name, one entry and one line', async () => {
  await run('git', ['apply', '--check', PATCH], { cwd: ROOT });
  const touched = readFileSync(PATCH, 'utf8').matchAll(/^\+\+\+ b\/(.+)$/gm);
  expect(Array.from(touched, ([, file]) => file)).toEqual([
    'migrations/mirror/0002.ts',
    'src/store/migrations.ts',
    'src/registry/clients.ts',
    'src/registry/json/parse.ts',
    'src/registry/model.ts',
    'src/registry/organization-client.ts',
    'src/resources/lists.ts',
    'src/sync/sources.ts',
    'test/resources/transfers.test.ts',
  ]);
});

long.test('with these alone its types fit, and it is mirrored by every law', async () => {
  const folder = await withNinthList();
  const modules = join(ROOT, 'node_modules');
  writeFileSync(
    join(folder, 'test/resources/tsconfig.json'),
    '{ "extends": "../tsconfig.json", "include": ["../../src", "transfers.test.ts"], "exclude": [] }',
  );
  const tsc = join(modules, 'typescript/bin/tsc');
  const faults = await run(process.execPath, [tsc, '-p', 'test/resources'], { cwd: folder }).catch(outputOf);
  expect(faults.stdout).toBe('');
  const { stdout } = await run(
    process.execPath,
    [join(modules, 'vitest/vitest.mjs'), 'run', '--project', 'laws', 'transfers', 'entries'],
    { cwd: folder, env: { PATH: process.env['PATH'], NO_COLOR: '1' } },
  ).catch(outputOf);
  expect(stdout).toMatch(/Test Files +2 passed/);
});
