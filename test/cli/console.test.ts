import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findSandbox } from '../../src/cli/commands/demo/demo-sandbox.js';
import { runCommand } from '../support/command.js';
import { temporaryFolder, temporaryInbox } from '../support/inbox.js';
import { temporaryMirror } from '../support/mirror/open.js';
import { startRawServer, formatRawResponse } from '../support/raw-server.js';
import { startTemporarySandbox } from '../support/sandbox.js';

test('T70 the console secret is stored in a private file, and a sign-in link is printed only on a terminal and by "console url"', async () => {
  const folder = temporaryFolder();
  temporaryInbox(folder);
  temporaryMirror(folder);
  const env = { DATA_DIR: folder, CONSOLE_PORT: '0' };
  expect(await runCommand(['console', 'url'], { env })).toMatchObject({ exitCode: 6, stdout: '' });
  const started = await runCommand(['console'], { env, createInterruptSignal: () => AbortSignal.abort() });
  expect(started).toMatchObject({ exitCode: 0, stdout: '' });
  expect(started.stderr).not.toMatch(/key=/);
  const seen = await runCommand(['console'], {
    env,
    terminal: true,
    createInterruptSignal: () => AbortSignal.abort(),
  });
  expect(seen.stderr).toMatch(/^Open http:\/\/127\.0\.0\.1:\d+\/\?key=once\.\S+$/m);
  expect(statSync(join(folder, 'console.json')).mode & 0o777).toBe(0o600);
  const { stdout, exitCode } = await runCommand(['console', 'url'], { env });
  expect(exitCode).toBe(0);
  expect(stdout).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?key=once\.\S+\n$/);
});

test('findSandbox finds only a sandbox on this machine', async () => {
  const { url } = await startTemporarySandbox();
  expect(await findSandbox(url)).not.toBeNull();
  const registry = await startRawServer(socket => socket.write(formatRawResponse(404, '{"statusCode":404}')));
  const empty = await startRawServer(socket => socket.write(formatRawResponse(200, '{}')));
  const page = await startRawServer(socket => socket.write(formatRawResponse(200, '<h1>No sandbox</h1>')));
  const silent = await startRawServer(() => undefined);
  const there = [registry, empty, page, silent].map(each => each.url);
  for (const other of [...there, 'http://127.0.0.1:1', 'https://registry.example', undefined]) {
    expect(await findSandbox(other), other).toBeNull();
  }
});
