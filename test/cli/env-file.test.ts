import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { listCommands } from '../support/commands.js';
import { temporaryFolder } from '../support/inbox.js';
import { runProcess } from '../support/processes.js';
import { createPrivateKey } from '../support/sandbox.js';

function envFile(text: string): string {
  const file = join(temporaryFolder(), 'settings.env');
  writeFileSync(file, text);
  return file;
}

test('settings are taken from a file, before or after the command, and the environment counts first', async () => {
  const file = envFile('# a comment\nDATA_DIR="/nowhere here"\n');
  for (const argv of [
    ['--env-file', file, 'status'],
    ['status', '--env-file', file],
    ['status', `--env-file=${file}`, '--json'],
  ]) {
    const { exitCode, stderr } = await runCommand(argv);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 2 });
    expect(stderr).toContain('There is no mirror in /nowhere here');
  }
  const { stderr } = await runCommand(['status', '--env-file', file], { env: { DATA_DIR: '/elsewhere' } });
  expect(stderr).toContain('There is no mirror in /elsewhere');
  const told = await runProcess(['status', '--env-file', file], {});
  expect(told).toMatchObject({ exitCode: 2, stdout: '' });
  expect(told.stderr).toMatch(/^There is no mirror in \/nowhere here/);
});

test('a file that is not there is told in a sentence, exit 2, by every command', async () => {
  const commands = await listCommands();
  expect(commands.length).toBeGreaterThan(50);
  for (const { name } of commands) {
    const { exitCode, stdout, stderr } = await runCommand([...name.split(' '), '--env-file', '/no/file']);
    expect({ name, exitCode, stdout }).toEqual({ name, exitCode: 2, stdout: '' });
    expect(stderr).toContain('--env-file: expected a file of settings');
    expect(stderr).toContain('"/no/file" cannot be read (ENOENT)');
    expect(stderr).not.toMatch(/\n\s+at /);
  }
  expect(await runCommand(['status', '--env-file'])).toMatchObject({ exitCode: 2 });
  expect((await runCommand(['--help'])).stdout).toContain('--env-file <file>');
});

test('a mistake in the file is a mistake in the settings', async () => {
  const file = envFile('REGISTRY_BASE_UR=http://127.0.0.1:8090\nPORT=x\n');
  const { exitCode, stderr } = await runCommand(['receive', '--env-file', file]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('REGISTRY_BASE_UR: expected a known name, perhaps REGISTRY_BASE_URL');
  expect(stderr).toContain('PORT: expected');
});

test('T69 a file that is none of settings is refused without a word of its text', async () => {
  const key = createPrivateKey();
  for (const text of [
    key,
    `\n${key}`,
    '{"REGISTRY_APP_ID": "q7ZrK2w9Lx1Vd5Tb"}',
    'REGISTRY_APP_ID: q7ZrK2w9Lx1Vd5Tb\n',
    'WEBHOOK_SECRETS: q7ZrK2w9Lx1Vd5Tb=\n',
    'A=1\nq7ZrK2w9/Lx1Vd5Tb+=\n',
  ]) {
    const file = envFile(text);
    const { exitCode, stderr } = await runCommand(['status', '--env-file', file]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining(`--env-file: expected a file of settings, NAME=value on each line; `),
    });
    expect(stderr).toContain(`"${file}" holds something else`);
    expect(stderr).not.toMatch(/q7Zr|BEGIN|SECRETS/);
    expect(stderr).not.toContain(key.split('\n')[3]);
  }
  for (const text of ['', '\n# only this\n', 'export DATA_DIR=/nowhere\r\nspring.name-x=1\r\n']) {
    const { stderr } = await runCommand(['status', '--env-file', envFile(text)]);
    expect(stderr).toContain('There is no mirror in');
  }
});

test('what stands behind -- is no option of ours', async () => {
  const { stderr } = await runCommand(['query', '--', '--env-file']);
  expect(stderr).not.toContain('--env-file: expected');
});
