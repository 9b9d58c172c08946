import { expect, test } from 'vitest';
import { readEnvFileOptions } from '../../../src/app/config/env-file.js';
import { SettingsError } from '../../../src/app/config/settings-error.js';

const FILES = new Map([
  ['plain.env', 'DATA_DIR=/plain\nPORT=1\n'],
  ['secret.env', '# a comment\nPORT=2\nWEBHOOK_SECRETS=correct horse battery\n'],
  ['comments.env', '\n# only this\n'],
  ['key.pem', '-----BEGIN PRIVATE KEY-----\nA=1\n'],
  ['settings.json', '{"PORT": "1"}'],
  ['odd-name.env', 'A=1\nq7Zr/K2w9=\n'],
]);

const readFile = (path: string): string => {
  const text = FILES.get(path);
  if (text === undefined) throw Object.assign(new Error('no such file'), { code: 'ENOENT' });
  return text;
};

const read = (line: string, env = {}) => readEnvFileOptions(line.split(' '), env, readFile);

test.each([
  ['status --json', ['status', '--json'], {}, []],
  ['--env-file plain.env status', ['status'], { DATA_DIR: '/plain', PORT: '1' }, []],
  ['status --env-file=comments.env --json', ['status', '--json'], {}, []],
  [
    '--env-file=plain.env status --env-file secret.env',
    ['status'],
    { DATA_DIR: '/plain', PORT: '2', WEBHOOK_SECRETS: 'correct horse battery' },
    ['secret.env'],
  ],
  [
    '--env-file plain.env query -- --env-file x',
    ['query', '--', '--env-file', 'x'],
    { DATA_DIR: '/plain', PORT: '1' },
    [],
  ],
])('the files of --env-file are read in order, up to --: %s', (line, args, env, secretFiles) => {
  const hasEnvFile = line.replace(/ -- .*/, '').includes('--env-file');
  expect(read(line)).toEqual({ args, env, secretFiles, hasEnvFile });
});

test('the environment takes precedence over the files', () => {
  expect(read('--env-file plain.env', { PORT: '3' }).env).toEqual({ DATA_DIR: '/plain', PORT: '3' });
});

test.each([
  ['status --env-file', 'no file is named'],
  ['status --env-file=', 'no file is named'],
  ['--env-file missing.env', '"missing.env" cannot be read (ENOENT)'],
  ['--env-file key.pem', '"key.pem" has other content'],
  ['--env-file settings.json', '"settings.json" has other content'],
  ['--env-file odd-name.env', '"odd-name.env" has other content'],
])('the arguments %s are refused: %s', (line, problem) => {
  expect(() => read(line)).toThrow(SettingsError);
  expect(() => read(line)).toThrow(
    `--env-file: expected a file of settings, NAME=value on each line; ${problem}`,
  );
});
