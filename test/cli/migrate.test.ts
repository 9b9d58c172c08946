import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { temporaryFolder } from '../support/inbox.js';

const MAIN = join(import.meta.dirname, '../../dist/main.js');

describe('migrate with no settings', () => {
  test('migrates the demo if there is one and creates no empty mirror that would hide it', async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'demo'));
    writeFileSync(join(folder, 'demo', 'demo.env'), 'REGISTRY_BASE_URL=http://127.0.0.1:9\n');
    const { exitCode, stderr } = await runCommand(['migrate'], { env: { DATA_DIR: folder } });
    expect(exitCode).toBe(0);
    expect(stderr).toContain(`${join(folder, 'demo')}: migrated`);
    expect(readdirSync(folder)).toEqual(['demo']);
    expect(readdirSync(join(folder, 'demo')).toSorted()).toEqual(['demo.env', 'inbox.db', 'mirror.db']);
  });

  test('creates a mirror only if a setting says where', async () => {
    const folder = temporaryFolder();
    const named = await runCommand(['migrate'], { env: { DATA_DIR: join(folder, 'named') } });
    expect(named.exitCode).toBe(0);
    const nothing = spawnSync(process.execPath, [MAIN, 'migrate'], {
      cwd: folder,
      env: {},
      encoding: 'utf8',
    });
    expect(nothing.status).toBe(2);
    expect(nothing.stderr).toContain('There is no mirror and no demo in data');
    expect(readdirSync(folder)).toEqual(['named']);
  });
});
