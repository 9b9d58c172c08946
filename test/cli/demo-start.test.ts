import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { listCommands } from '../support/commands.js';
import { temporaryFolder } from '../support/inbox.js';
import { runProcess } from '../support/processes.js';

const REQUIRED = ['REGISTRY_BASE_URL', 'REGISTRY_APP_ID', 'REGISTRY_PRIVATE_KEY', 'WEBHOOK_SECRETS'];

/** Creates a data folder with a demo whose settings every command refuses. A command that refuses them has chosen the demo. */
function createDemoFolder(): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'demo'));
  writeFileSync(join(folder, 'demo/demo.env'), 'NODE_OPTIONS=--require=./evil.js\n');
  return folder;
}
const CHOSE_DEMO = 'demo.env has contents that no demo writes';

function createEmptyEnvFile(): string[] {
  const file = join(temporaryFolder(), '.env');
  writeFileSync(file, '# nothing is filled in\nREGISTRY_APP_ID=\n');
  return ['--env-file', file];
}

describe('up without settings', () => {
  test('starts a demo in a terminal', async () => {
    const env = { DATA_DIR: createDemoFolder() };
    expect((await runCommand(['up'], { env, terminal: true })).stderr).toContain(CHOSE_DEMO);
  });

  test.each([
    ['without a terminal', false, {}, false],
    ['with NODE_ENV=production', true, { NODE_ENV: 'production' }, false],
    ['with --env-file', true, {}, true],
    ['with a setting of the registry', true, { REGISTRY_HEADER_PREFIX: 'icr' }, false],
  ])(
    '%s names the missing settings with exit code 2 and starts no demo',
    async (_case, terminal, env, hasFile) => {
      const folder = createDemoFolder();
      const settings = { ...env, DATA_DIR: folder };
      const { exitCode, stdout, stderr } = await runCommand(
        ['up', ...(hasFile ? createEmptyEnvFile() : [])],
        {
          env: settings,
          terminal,
        },
      );
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
      for (const name of REQUIRED) expect(stderr).toContain(`${name}: expected`);
      expect(stderr).not.toContain(CHOSE_DEMO);
      expect(readdirSync(folder)).toEqual(['demo']);
      if (!('REGISTRY_HEADER_PREFIX' in env)) expect(stderr).toContain('"carbon-mirror up --demo"');
    },
  );

  test('fails with the missing settings in a process without a terminal', async () => {
    const cwd = temporaryFolder();
    const { exitCode, stderr } = await runProcess(['up'], {}, cwd);
    expect(exitCode).toBe(2);
    for (const name of REQUIRED) expect(stderr).toContain(`${name}: expected`);
    expect(readdirSync(cwd)).toEqual([]);
  });
});

describe('up --demo', () => {
  test.each([
    ['without a terminal', {}, false],
    ['with NODE_ENV=production', { NODE_ENV: 'production' }, false],
    ['with --env-file', {}, true],
  ])('%s starts the demo', async (_case, env, hasFile) => {
    const settings = { ...env, DATA_DIR: createDemoFolder() };
    expect(
      (await runCommand(['up', '--demo', ...(hasFile ? createEmptyEnvFile() : [])], { env: settings }))
        .stderr,
    ).toContain(CHOSE_DEMO);
  });

  test('refuses the settings of a registry', async () => {
    const env = {
      DATA_DIR: temporaryFolder(),
      REGISTRY_APP_ID: 'an-app',
      MIRROR_DATABASE_URL: 'postgres://h/d',
    };
    const { exitCode, stderr } = await runCommand(['up', '--demo'], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('REGISTRY_APP_ID, MIRROR_DATABASE_URL');
    expect(readdirSync(env.DATA_DIR)).toEqual([]);
  });
});

describe('a command without settings', () => {
  test('uses the mirror of the demo', async () => {
    const { stderr } = await runCommand(['status'], { env: { DATA_DIR: createDemoFolder() } });
    expect(stderr).toContain(CHOSE_DEMO);
  });

  test('uses the settings of the demo whose folder is DATA_DIR', async () => {
    const folder = join(createDemoFolder(), 'demo');
    await runCommand(['migrate', ...createEmptyEnvFile()], {
      env: { DATA_DIR: folder },
    });
    const { stderr } = await runCommand(['status'], { env: { DATA_DIR: folder } });
    expect(stderr).toContain(CHOSE_DEMO);
  });

  test.each([
    ['NODE_ENV=production', { NODE_ENV: 'production' }, false],
    ['--env-file', {}, true],
  ])('never uses the mirror of the demo with %s', async (_case, env, hasFile) => {
    const commands = await listCommands();
    expect(commands.length).toBeGreaterThan(50);
    for (const { name, command } of commands.filter(each => each.name !== 'sandbox start')) {
      const options = command.options
        .filter(({ mandatory, defaultValue }) => mandatory && defaultValue === undefined)
        .flatMap(({ long, argChoices }) => [long ?? '', argChoices?.[0] ?? '1']);
      const folder = createDemoFolder();
      const needed = command.registeredArguments.map(() => join(folder, 'some-word'));
      const { stderr } = await runCommand(
        [...name.split(' '), ...needed, ...options, ...(hasFile ? createEmptyEnvFile() : [])],
        {
          env: { ...env, DATA_DIR: folder },
        },
      );
      expect(stderr, name).not.toContain(CHOSE_DEMO);
    }
    const { exitCode, stderr } = await runCommand(['status', ...(hasFile ? createEmptyEnvFile() : [])], {
      env: { ...env, DATA_DIR: createDemoFolder() },
    });
    expect(exitCode).toBe(2);
    expect(stderr).toContain('There is no mirror in');
    expect(stderr).toContain('is ignored because of --env-file, NODE_ENV=production');
  });

  test('creates no mirror for sync with --env-file', async () => {
    const folder = temporaryFolder();
    const argv = ['sync', ...createEmptyEnvFile()];
    const { exitCode } = await runCommand(argv, { env: { DATA_DIR: folder } });
    expect(exitCode).toBe(2);
    expect(existsSync(join(folder, 'mirror.db'))).toBe(false);
  });
});

test.each([['available'], ['query', 'select 1'], ['retirements', 'list', '--json']])(
  '%s says on stderr that the data of a demo is made up, and nothing of the kind for another mirror',
  async (...words) => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'demo'));
    writeFileSync(join(folder, 'demo/demo.env'), 'REGISTRY_BASE_URL=http://127.0.0.1:9\n');
    const env = { DATA_DIR: folder };
    await runCommand(['migrate'], { env });
    const notice = `Demo: the data in ${join(folder, 'demo')} is made up.`;
    const answer = await runCommand(words, { env });
    expect(answer.stderr.split(notice)).toHaveLength(2);
    expect(answer.stdout).not.toContain('Demo:');
    const real = { DATA_DIR: temporaryFolder() };
    await runCommand(['migrate'], { env: real });
    expect((await runCommand(words, { env: real })).stderr).not.toContain('Demo:');
  },
);
