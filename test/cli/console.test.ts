import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findDemoOf } from '../../src/cli/place/find-place.js';
import { runCommand } from '../support/command.js';
import { temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { temporaryMirror } from '../support/mirror.js';

test('T70 what lets a browser in stands in a file of its owner alone, is printed on a terminal only, and again by its own command', async () => {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  temporaryMirror(folder);
  const env = { DATA_DIR: folder, CONSOLE_PORT: '0' };
  expect(await runCommand(['console', 'url'], { env })).toMatchObject({ exitCode: 6, stdout: '' });
  const started = await runCommand(['console'], { env, interruption: () => AbortSignal.abort() });
  expect(started).toMatchObject({ exitCode: 0, stdout: '' });
  expect(started.stderr).not.toMatch(/key=/);
  const seen = await runCommand(['console'], {
    env,
    terminal: true,
    interruption: () => AbortSignal.abort(),
  });
  expect(seen.stderr).toMatch(/^Open http:\/\/127\.0\.0\.1:\d+\/\?key=once\.\S+$/m);
  expect(statSync(join(folder, 'console.json')).mode & 0o777).toBe(0o600);
  const { stdout, exitCode } = await runCommand(['console', 'url'], { env });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?key=once\.\S+\n$/);
});

test('only where the registry is the demo’s own is there anything to play with', () => {
  const folder = temporaryFolder();
  const url = 'http://127.0.0.1:8090';
  expect(findDemoOf({ folder, env: { REGISTRY_BASE_URL: url } })).toBeNull();
  writeFileSync(join(folder, 'settings.json'), JSON.stringify({ REGISTRY_BASE_URL: url }));
  expect(findDemoOf({ folder, env: { REGISTRY_BASE_URL: url } })?.url).toBe(url);
  for (const other of ['https://registry.example', 'http://127.0.0.1:8091', undefined]) {
    expect(findDemoOf({ folder, env: { REGISTRY_BASE_URL: other } }), other).toBeNull();
  }
  writeFileSync(join(folder, 'settings.json'), '{"REGISTRY_BASE_URL":"https://registry.example"}');
  expect(() => findDemoOf({ folder, env: { REGISTRY_BASE_URL: 'https://registry.example' } })).toThrow(
    'its registry is not on this machine',
  );
});
