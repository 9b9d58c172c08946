import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import {
  getDemoSettingsFile,
  formatSetting,
  readDemoSettings,
  writeDemoSettings,
} from '../../src/cli/commands/demo/demo-settings.js';
import { runCommand } from '../support/command.js';
import { temporaryFolder } from '../support/inbox.js';
import { openTablesOfFile } from '../support/tables.js';

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

/** Creates a data folder with a demo that has these settings. */
function createDemoFolder(settings: Record<string, string> | string): string {
  const folder = temporaryFolder();
  const lines = Object.entries(settings).map(([name, value]) => formatSetting(name, value));
  mkdirSync(join(folder, 'demo'));
  const text = typeof settings === 'string' ? settings : lines.join('');
  writeFileSync(getDemoSettingsFile(join(folder, 'demo')), text);
  return folder;
}

describe("a demo's settings", () => {
  test.each([
    [
      'a name that runs code',
      { ...WRITTEN, NODE_OPTIONS: '--require=./evil.js' },
      'it contains NODE_OPTIONS',
    ],
    [
      'the name of a key file',
      { ...WRITTEN, REGISTRY_PRIVATE_KEY_FILE: '/key' },
      'REGISTRY_PRIVATE_KEY_FILE',
    ],
    ['another folder', { ...WRITTEN, DATA_DIR: '/elsewhere' }, 'it contains DATA_DIR'],
    [
      'a registry elsewhere',
      { ...WRITTEN, REGISTRY_BASE_URL: 'https://evil.example' },
      'not on this machine',
    ],
    ['a bent address', { ...WRITTEN, REGISTRY_BASE_URL: 'http://127.0.0.1:80@evil.example' }, 'not on this'],
    ['a secret for a name', { ...WRITTEN, q7ZrK2w9Lx1Vd5Tb: '' }, 'a hidden name of 16 characters'],
    ['something else', '{', 'not on this machine'],
    ['a key in its place', WRITTEN.REGISTRY_PRIVATE_KEY, 'a hidden '],
  ])('T74 with %s are refused by every command that reads them', async (_what, settings, expectedOutput) => {
    const env = { DATA_DIR: createDemoFolder(settings) };
    for (const argv of [
      ['status'],
      ['reservations', 'cancel', 'none', '--organization', 'none', '--yes'],
      ['sandbox', 'call', 'GET', '/status'],
      ['up', '--demo'],
    ]) {
      const { exitCode, stdout, stderr } = await runCommand(argv, { env });
      expect({ argv, exitCode, stdout }).toEqual({ argv, exitCode: 2, stdout: '' });
      expect(stderr).toContain('has contents that no demo writes');
      expect(stderr).toContain(expectedOutput);
      expect(stderr).not.toMatch(/q7Zr|BEGIN|AA==/);
      expect(stderr).not.toMatch(/\n\s+at /);
    }
  });

  test('are written to a private file that --env-file reads back unchanged', () => {
    const folder = temporaryFolder();
    writeDemoSettings(folder, WRITTEN);
    expect(statSync(getDemoSettingsFile(folder)).mode & 0o777).toBe(0o600);
    const { REGISTRY_PRIVATE_KEY: key = '', ...others } = readDemoSettings(folder) ?? {};
    expect({ ...others, REGISTRY_PRIVATE_KEY: `${key.replaceAll('\\n', '\n')}\n` }).toEqual(WRITTEN);
    expect(readFileSync(getDemoSettingsFile(folder), 'utf8').split('\n')).toHaveLength(
      Object.keys(WRITTEN).length + 1,
    );
  });
});

test('a mirror in the folder of the demo without demo settings is not used as a demo and stays unchanged', async () => {
  const folder = temporaryFolder();
  const demo = join(folder, 'demo');
  await runCommand(['migrate'], { env: { DATA_DIR: demo } });
  await openTablesOfFile(join(demo, 'mirror.db')).change(
    "UPDATE schema_migrations SET digest = 'of another text'",
  );
  const { exitCode, stdout, stderr } = await runCommand(['up', '--demo'], { env: { DATA_DIR: folder } });
  expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  expect(stderr).toContain('mirror.db was made by an earlier carbon-mirror');
  expect(readdirSync(folder)).toEqual(['demo']);
  expect(readdirSync(demo)).toContain('mirror.db');
});
