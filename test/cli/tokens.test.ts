import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { createSecretSearch } from '../support/secret-search.js';
import { openFilledMirror } from '../support/mirror/open.js';

const TOKEN = /^cm_[\w-]{43}\n$/;

async function openScene() {
  const { env, tables } = await openFilledMirror();
  const run = (...argv: readonly string[]) => runCommand(argv, { env });
  const runJson = async (...argv: readonly string[]) => JSON.parse((await run(...argv, '--json')).stdout);
  return { env, tables, run, runJson };
}

test('a token is printed once, and no list, query, backup or file contains it', async () => {
  const { env, run, runJson } = await openScene();
  const { exitCode, stdout } = await run('tokens', 'create', 'shop');
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(TOKEN) });
  const { token } = await runJson('tokens', 'create', 'other');
  const search = createSecretSearch([stdout.trim(), token]);
  const backup = join(env.DATA_DIR, 'copy');
  const commands = [
    ['tokens', 'list', '--json'],
    ['tokens', 'revoke', 'other', '--json'],
    ['query', 'SELECT * FROM inbox.tokens', '--json'],
    ['status', '--json'],
    ['doctor', '--json'],
    ['backup', backup],
  ];
  for (const argv of commands) {
    const outcome = await run(...argv);
    expect(search.find(argv.join(' '), outcome.stdout + outcome.stderr)).toEqual([]);
  }
  const files = readdirSync(env.DATA_DIR, { recursive: true, encoding: 'utf8' })
    .map(name => join(env.DATA_DIR, name))
    .filter(file => statSync(file).isFile());
  expect(files.some(file => file.startsWith(backup))).toBe(true);
  for (const file of files) expect(search.find(file, readFileSync(file))).toEqual([]);
});

test('a token without options reads all mirrored lists but those of people', async () => {
  const { runJson } = await openScene();
  const { lists, scopes, organizations } = await runJson('tokens', 'create', 'shop');
  expect(lists.split(', ')).toEqual(expect.arrayContaining(['warehouse', 'retirements', 'certificates']));
  for (const name of ['members', 'addresses', 'deliveries', 'jobs']) expect(lists).not.toContain(name);
  expect({ scopes, organizations }).toEqual({ scopes: 'lists', organizations: 'all' });
});

test('options name scopes, organizations and lists in any spelling', async () => {
  const { runJson } = await openScene();
  const options = [
    '--scope',
    'lists',
    'Certificates',
    '--organization',
    'Organization 2',
    '--list',
    'Members',
  ];
  expect(await runJson('tokens', 'create', 'acme', ...options)).toMatchObject({
    scopes: 'lists, certificates',
    organizations: 'organization-2',
    lists: 'members',
  });
});

test.each([
  [['create', 'a b'], 'expected 1 to 64 letters'],
  [['create', 'shop', '--scope', 'everything'], 'lists, certificates, changes, status'],
  [['create', 'shop', '--list', 'retirement'], 'retirements'],
  [['create', 'shop', '--organization', 'organization-1', '--list', 'rejected-webhooks'], 'not divided by'],
  [['create', 'shop', '--organization', 'organization-1', '--scope', 'status'], 'all organizations'],
])('refuses %j with exit code 2', async (argv, text) => {
  const { run, tables } = await openScene();
  expect(await run('tokens', ...argv)).toEqual({
    exitCode: 2,
    stdout: '',
    stderr: expect.stringContaining(text),
  });
  expect(await tables.value('SELECT count(*) FROM inbox.tokens')).toBe(0);
});

test('an unknown organization or token ends with exit code 6', async () => {
  const { run } = await openScene();
  expect((await run('tokens', 'create', 'shop', '--organization', 'Nobody')).exitCode).toBe(6);
  expect((await run('tokens', 'revoke', 'shop')).exitCode).toBe(6);
});

test('a name is used once', async () => {
  const { run } = await openScene();
  await run('tokens', 'create', 'shop');
  expect(await run('tokens', 'create', 'shop')).toMatchObject({ exitCode: 2, stdout: '' });
  expect((await run('tokens', 'revoke', 'shop')).exitCode).toBe(0);
  expect(await run('tokens', 'create', 'shop')).toMatchObject({ exitCode: 2, stdout: '' });
});
