import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../support/command.js';
import { createControlClient } from '../../src/sandbox/control/control-client.js';
import {
  createPrivateKey,
  getPublicKey,
  createTemporarySandboxFolder,
  signJwt,
  startTemporarySandbox,
} from '../support/sandbox.js';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

interface Started {
  readonly child: ChildProcess;
  readonly line: string;
}

/** Starts the built program and waits for its first line. */
async function start(...argv: string[]): Promise<Started> {
  return await startWith({}, ...argv);
}

async function startWith(env: Record<string, string>, ...argv: string[]): Promise<Started> {
  const child = spawn(process.execPath, [MAIN, 'sandbox', ...argv], {
    stdio: ['ignore', 'pipe', 'ignore'],
    env: { PATH: process.env['PATH'], ...env },
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, line: String(line) };
}

async function stopped(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown> {
  const exit = once(child, 'exit');
  child.kill(signal);
  return (await exit)[0];
}

test('sandbox start prints its URL, stops at a signal and resumes with its data at the next start', async () => {
  const folder = createTemporarySandboxFolder();
  const first = await start(
    'start',
    '--port',
    '0',
    '--folder',
    folder,
    '--seed',
    '7',
    '--organizations',
    '2',
  );
  const url = first.line;
  const list = ['sandbox', 'call', 'GET', '/organizations', '--url'];
  const before = await runCommand([...list, url]);
  expect(JSON.parse(before.stdout).organizations).toHaveLength(2);
  expect(await stopped(first.child, 'SIGTERM')).toBe(0);
  const second = await start('start', '--port', '0', '--folder', folder);
  expect((await runCommand([...list, second.line])).stdout).toBe(before.stdout);
  expect(await stopped(second.child, 'SIGINT')).toBe(0);
});

test('a strict sandbox refuses a call without the version header named by REGISTRY_HEADER_PREFIX', async () => {
  const folder = createTemporarySandboxFolder();
  const env = { REGISTRY_HEADER_PREFIX: 'icr' };
  const { child, line } = await startWith(env, 'start', '--port', '0', '--folder', folder, '--strict');
  const prefixed = { headers: { 'x-icr-api-version': '2023-06-16' } };
  expect((await fetch(`${line}/projects`)).status).toBe(400);
  expect((await fetch(`${line}/projects`, prefixed)).status).toBe(401);
  await stopped(child, 'SIGTERM');
  const fault = await runCommand(['sandbox', 'start', '--port', '0', '--folder', folder], {
    env: { REGISTRY_HEADER_PREFIX: 'a b' },
  });
  expect(fault).toMatchObject({ exitCode: 2 });
  expect(fault.stderr).toContain('REGISTRY_HEADER_PREFIX: expected a word');
});

test('a sandbox with the profile as-documented answers as the public documentation shows', async () => {
  const { child, line } = await start(
    'start',
    '--port',
    '0',
    '--folder',
    createTemporarySandboxFolder(),
    '--profile',
    'as-documented',
  );
  const control = createControlClient(line);
  const privateKey = createPrivateKey();
  const app = Object(
    await control('POST', '/apps', { name: 'Shop', publicKeys: [getPublicKey(privateKey)] }),
  );
  const { organization } = Object(
    await control('POST', '/organizations', {
      user: { email: 'ada@people.example' },
      organization: { fullName: 'Quay', type: 'other' },
    }),
  );
  const { id } = Object(
    await control('POST', '/installations', { appId: app.id, organizationId: organization.id }),
  );
  const seconds = Math.floor(Date.now() / 1000);
  const jwt = signJwt(privateKey, { alg: 'RS256', iss: app.id, iat: seconds - 60, exp: seconds + 300 });
  const call = async (method: string, path: string, token: string) =>
    Object(
      await (await fetch(`${line}${path}`, { method, headers: { authorization: `Bearer ${token}` } })).json(),
    );
  const { token } = await call('POST', `/app/installations/${id}/accessTokens`, jwt);
  const addresses = await call('GET', `/organizations/${organization.id}/addresses`, token);
  expect(addresses).toMatchObject({ id: organization.id, fullName: 'Quay' });
  await stopped(child, 'SIGTERM');
});

test('sandbox start explains likely mistakes with exit code 2', async () => {
  const sandbox = await startTemporarySandbox();
  const folder = createTemporarySandboxFolder();
  for (const [argv, text] of [
    [['--port', String(sandbox.port)], `Port ${sandbox.port} is in use by another program`],
    [['--port', 'x'], '--port: expected a whole number'],
    [['--port', '70000'], 'Expected a port'],
    [['--seed', '-1'], '--seed: expected a whole number'],
    [['--organizations', '0'], 'organizations: expected at least 1'],
    [['--profile', 'kind'], 'Expected one of as-documented, got "kind".'],
    [['--folder', '/dev/null/x'], '"/dev/null/x" cannot be used'],
  ] as const) {
    const outcome = await runCommand(['sandbox', 'start', '--folder', folder, '--port', '0', ...argv]);
    expect(outcome, argv.join(' ')).toMatchObject({ exitCode: 2, stdout: '' });
    expect(outcome.stderr).toContain(text);
    expect(outcome.stderr).not.toMatch(/\n\s+at /);
  }
  const typo = await runCommand(['sandbox', 'stats']);
  expect(typo).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining("unknown command 'stats'"),
  });
});

test('sandbox start refuses another seed for a folder that already has data', async () => {
  const folder = createTemporarySandboxFolder();
  const { child } = await start(
    'start',
    '--port',
    '0',
    '--folder',
    folder,
    '--seed',
    '1',
    '--retirements',
    '3',
  );
  await stopped(child, 'SIGTERM');
  const outcome = await runCommand(['sandbox', 'start', '--folder', folder, '--port', '0', '--seed', '2']);
  expect(outcome).toMatchObject({ exitCode: 2, stdout: '' });
  expect(outcome.stderr).toContain('holds the world {"seed":1,"retirements":3}, not {"seed":2}');
  expect(outcome.stderr).toContain('Remove --seed');
});
