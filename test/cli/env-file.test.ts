import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { listCommands } from '../support/commands.js';
import { temporaryFolder } from '../support/inbox.js';
import { findFreePort, runProcess, startProcess } from '../support/processes.js';
import { createPrivateKey } from '../support/sandbox.js';

function writeEnvFile(text: string): string {
  const file = join(temporaryFolder(), 'settings.env');
  writeFileSync(file, text);
  return file;
}

test('--env-file may stand before or after the command, and the environment takes precedence', async () => {
  const file = writeEnvFile('# a comment\nDATA_DIR="/nowhere here"\n');
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
  const outcome = await runProcess(['status', '--env-file', file], {});
  expect(outcome).toMatchObject({ exitCode: 2, stdout: '' });
  expect(outcome.stderr).toMatch(/^There is no mirror in \/nowhere here/);
});

test('every command reports a missing settings file in one sentence and exits with 2', async () => {
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

test('an invalid setting in the file is reported like any invalid setting', async () => {
  const file = writeEnvFile('REGISTRY_BASE_UR=http://127.0.0.1:8090\nPORT=x\n');
  const { exitCode, stderr } = await runCommand(['receive', '--env-file', file]);
  expect(exitCode).toBe(2);
  expect(stderr).toContain('REGISTRY_BASE_UR: expected a known name, perhaps REGISTRY_BASE_URL');
  expect(stderr).toContain('PORT: expected');
});

describe('a misspelt setting', () => {
  const settings =
    'WORKER_CONCURENCY=8\nDATA_DRI=/srv/mirror\nEVIDENCE_KEY=/key\nlog_level=debug\nOTHER_PROGRAM=x\n';
  const expected = [
    'WORKER_CONCURENCY: expected a known name, perhaps WORKER_CONCURRENCY; there is no such setting',
    'DATA_DRI: expected a known name, perhaps DATA_DIR; there is no such setting',
    'EVIDENCE_KEY: expected a known name, perhaps EVIDENCE_KEY_FILE; there is no such setting',
    'log_level: expected a known name, perhaps LOG_LEVEL; there is no such setting',
  ];

  test.each(['up', 'work', 'status', 'up --demo', 'sync', 'sandbox call GET /status'])(
    'in the file of --env-file is an error for %s',
    async line => {
      const env = { DATA_DIR: temporaryFolder() };
      const argv = [...line.split(' '), '--env-file', writeEnvFile(settings)];
      const { exitCode, stderr } = await runCommand(argv, { env });
      expect(exitCode).toBe(2);
      for (const fault of expected) expect(stderr).toContain(fault);
      expect(stderr).not.toContain('OTHER_PROGRAM');
      expect(readdirSync(env.DATA_DIR)).toEqual([]);
    },
  );

  test('in the environment is a warning, and the command continues', async () => {
    const folder = temporaryFolder();
    const env = { DATA_DIR: folder, WORKER_CONCURENCY: '8', OTHER_PROGRAM: 'x' };
    const { exitCode, stderr } = await runCommand(['migrate'], { env });
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(
      /^Warning: WORKER_CONCURENCY is not a setting. Did you mean WORKER_CONCURRENCY\?\n/,
    );
    expect(stderr).not.toContain('OTHER_PROGRAM');
    expect(readdirSync(folder)).toContain('mirror.db');
  });

  test('in the environment is warned about once, not by each process of up', async () => {
    const env = {
      REGISTRY_BASE_URL: 'http://127.0.0.1:9',
      REGISTRY_APP_ID: 'an-app',
      REGISTRY_PRIVATE_KEY: createPrivateKey(),
      WEBHOOK_SECRETS: 'correct horse battery',
      DATA_DIR: temporaryFolder(),
      PORT: String(await findFreePort()),
      CONSOLE_PORT: String(await findFreePort()),
      OPERATIONS_PORT: '0',
      WORKER_CONCURENCY: '8',
    };
    const up = startProcess(['up'], env);
    await expect.poll(() => up.output()).toContain('"msg":"worker started"');
    await expect.poll(() => up.output()).toContain('Open http');
    expect(up.output().match(/WORKER_CONCURENCY/g)).toHaveLength(1);
    up.child.kill('SIGTERM');
    expect(await up.ended).toBe(0);
  });

  test('does not include names that operating systems and platforms set', async () => {
    const names =
      'PATH HOME HOSTNAME USER SHELL TERM LANG PWD TZ NODE_ENV NODE_OPTIONS NO_COLOR COLUMNS DYNO DATABASE_URL REDIS_URL ' +
      'KUBERNETES_PORT KUBERNETES_SERVICE_HOST KUBERNETES_SERVICE_PORT API_PORT API_HOST DB_HOST DB_PORT POSTGRES_HOST PGHOST PGPORT ' +
      'npm_config_registry npm_lifecycle_event npm_package_name CI GITHUB_ENV RUNNER_TEMP INVOCATION_ID JOURNAL_STREAM ' +
      'XDG_DATA_DIRS XDG_DATA_HOME CREDENTIALS_DIRECTORY STATE_DIRECTORY SSH_CONNECTION LOGNAME LS_COLORS OLDPWD DEBUG';
    const env = Object.fromEntries(names.split(' ').map(name => [name, 'x']));
    const { stderr } = await runCommand(['status'], { env: { ...env, DATA_DIR: temporaryFolder() } });
    expect(stderr).toMatch(/^There is no mirror in /);
  });
});

test('T69 a file that holds no settings is refused without showing any of its text', async () => {
  const key = createPrivateKey();
  for (const text of [
    key,
    `\n${key}`,
    '{"REGISTRY_APP_ID": "q7ZrK2w9Lx1Vd5Tb"}',
    'REGISTRY_APP_ID: q7ZrK2w9Lx1Vd5Tb\n',
    'WEBHOOK_SECRETS: q7ZrK2w9Lx1Vd5Tb=\n',
    'A=1\nq7ZrK2w9/Lx1Vd5Tb+=\n',
  ]) {
    const file = writeEnvFile(text);
    const { exitCode, stderr } = await runCommand(['status', '--env-file', file]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining(`--env-file: expected a file of settings, NAME=value on each line; `),
    });
    expect(stderr).toContain(`"${file}" has other content`);
    expect(stderr).not.toMatch(/q7Zr|BEGIN|SECRETS/);
    expect(stderr).not.toContain(key.split('\n')[3]);
  }
  for (const text of ['', '\n# only this\n', 'export DATA_DIR=/nowhere\r\nspring.name-x=1\r\n']) {
    const { stderr } = await runCommand(['status', '--env-file', writeEnvFile(text)]);
    expect(stderr).toContain('There is no mirror in');
  }
});

test('arguments after -- are not read as options', async () => {
  const { stderr } = await runCommand(['query', '--', '--env-file']);
  expect(stderr).not.toContain('--env-file: expected');
});
