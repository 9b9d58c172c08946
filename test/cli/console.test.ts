import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { temporaryMirror } from '../support/mirror.js';

test('T70 what lets a browser in stands in a file of its owner alone, and is printed again by its own command', async () => {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  temporaryMirror(folder);
  const env = { DATA_DIR: folder, CONSOLE_PORT: '0' };
  expect(await runCommand(['console', 'url'], { env })).toMatchObject({ exitCode: 6, stdout: '' });
  const started = await runCommand(['console'], { env, interruption: () => AbortSignal.abort() });
  expect(started).toMatchObject({ exitCode: 0, stdout: '' });
  expect(started.stderr).not.toMatch(/key=/);
  expect(statSync(join(folder, 'console.json')).mode & 0o777).toBe(0o600);
  const { stdout, exitCode } = await runCommand(['console', 'url'], { env });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?key=once\.\S+\n$/);
});
