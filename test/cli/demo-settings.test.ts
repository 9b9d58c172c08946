import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { temporaryFolder } from '../support/inbox.js';
import { tablesInFile } from '../support/tables.js';

const WRITTEN = {
  REGISTRY_BASE_URL: 'http://127.0.0.1:9',
  REGISTRY_APP_ID: 'app-1',
  REGISTRY_PRIVATE_KEY: '-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----\n',
  REGISTRY_REQUESTS_PER_SECOND: '200',
  WEBHOOK_SECRETS: 'a webhook secret of this demo',
  SANDBOX_PORT: '9',
  PORT: '8099',
  OPERATIONS_PORT: '8098',
};

/** A folder in which a demo lives whose settings are these. */
function demoWith(settings: object | string): string {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'demo'));
  const text = typeof settings === 'string' ? settings : JSON.stringify(settings);
  writeFileSync(join(folder, 'demo', 'settings.json'), text);
  return folder;
}

describe("a demo's settings", () => {
  test.each([
    ['a name that runs code', { ...WRITTEN, NODE_OPTIONS: '--require=./evil.js' }, 'it holds NODE_OPTIONS'],
    [
      'the name of a key file',
      { ...WRITTEN, REGISTRY_PRIVATE_KEY_FILE: '/key' },
      'REGISTRY_PRIVATE_KEY_FILE',
    ],
    ['another folder', { ...WRITTEN, DATA_DIR: '/elsewhere' }, 'it holds DATA_DIR'],
    [
      'a registry elsewhere',
      { ...WRITTEN, REGISTRY_BASE_URL: 'https://evil.example' },
      'not on this machine',
    ],
    ['a bent address', { ...WRITTEN, REGISTRY_BASE_URL: 'http://127.0.0.1:80@evil.example' }, 'not on this'],
    ['a value that is no text', { ...WRITTEN, PORT: 8080 }, 'it is not a list of names and texts'],
    [
      'a secret for a name',
      { ...WRITTEN, q7ZrK2w9Lx1Vd5Tb: '' },
      'a name of 16 characters that is not shown',
    ],
    ['no JSON', '{', 'it is not a list of names and texts'],
    ['a key in its place', WRITTEN.REGISTRY_PRIVATE_KEY, 'it is not a list of names and texts'],
  ])('T74 with %s are refused by every command that would believe them', async (_what, settings, said) => {
    const env = { DATA_DIR: demoWith(settings) };
    for (const argv of [
      ['status'],
      ['projects', 'find', '--credit-id', 'one'],
      ['sandbox', 'call', 'GET', '/status'],
      ['up'],
      ['demo', 'env'],
    ]) {
      const { exitCode, stdout, stderr } = await runCommand(argv, { env });
      expect({ argv, exitCode, stdout }).toEqual({ argv, exitCode: 2, stdout: '' });
      expect(stderr).toContain('is not as a demo writes it');
      expect(stderr).toContain(said);
      expect(stderr).not.toMatch(/q7Zr|BEGIN|AA==/);
      expect(stderr).not.toMatch(/\n\s+at /);
    }
  });

  test('are printed with a key file of their owner alone, and no secret of another file', async () => {
    const folder = demoWith(WRITTEN);
    const elsewhere = join(folder, 'elsewhere');
    const key = join(folder, 'demo', 'key.pem');
    writeFileSync(elsewhere, 'mine');
    symlinkSync(elsewhere, key);
    const { exitCode, stdout } = await runCommand(['demo', 'env'], { env: { DATA_DIR: folder } });
    expect(exitCode).toBe(0);
    expect(stdout.split('\n')).toContain(`REGISTRY_PRIVATE_KEY_FILE=${key}`);
    expect(stdout).toContain('PORT=8099\n');
    expect(stdout).toContain("WEBHOOK_SECRETS='a webhook secret of this demo'\n");
    expect(stdout).not.toContain('BEGIN PRIVATE KEY');
    expect(readFileSync(elsewhere, 'utf8')).toBe('mine');
    expect(lstatSync(key).isSymbolicLink()).toBe(false);
    expect(statSync(key).mode & 0o777).toBe(0o600);
    expect(readFileSync(key, 'utf8')).toBe(WRITTEN.REGISTRY_PRIVATE_KEY);
    const file = join(folder, 'demo.env');
    writeFileSync(file, stdout);
    const status = await runCommand(['status', '--env-file', file]);
    expect(status.stderr).toContain(`There is no mirror in ${join(folder, 'demo')}`);
  });

  test('are not there before the first start, and that is said', async () => {
    const { exitCode, stdout, stderr } = await runCommand(['demo', 'env'], {
      env: { DATA_DIR: temporaryFolder() },
    });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('There is no demo in');
  });
});

test('a mirror of an earlier program that stands where a demo would, without its settings, is no demo: it stays where it is', async () => {
  const folder = temporaryFolder();
  const demo = join(folder, 'demo');
  await runCommand(['migrate'], { env: { DATA_DIR: demo } });
  await tablesInFile(join(demo, 'mirror.db')).change(
    "UPDATE schema_migrations SET digest = 'of another text'",
  );
  const { exitCode, stdout, stderr } = await runCommand(['up'], { env: { DATA_DIR: folder } });
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain('mirror.db was made by an earlier carbon-mirror');
  expect(readdirSync(folder)).toEqual(['demo']);
  expect(readdirSync(demo)).toContain('mirror.db');
});
