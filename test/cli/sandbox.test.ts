import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { runCommand } from '../support/command.js';
import {
  createOrganization,
  registerApp,
  createTemporarySandboxFolder,
  startSandboxForFile,
  startTemporarySandbox,
} from '../support/sandbox.js';

const sandbox = await startSandboxForFile();

async function call(...argv: string[]) {
  return await runCommand(['sandbox', 'call', ...argv], { env: { REGISTRY_BASE_URL: sandbox.url } });
}

// biome-ignore lint: the answers of a sandbox are what the tests look into
// oxlint-disable-next-line typescript/no-explicit-any
async function answerOf(...argv: string[]): Promise<any> {
  const { exitCode, stdout, stderr } = await call(...argv);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return JSON.parse(stdout);
}

test('sandbox app prints settings with which a program can call the registry as the new app', async () => {
  const { exitCode, stdout, stderr } = await runCommand(
    ['sandbox', 'app', 'Ready App', '--permission', 'organization_info:read', '--url', sandbox.url],
    { env: {} },
  );
  expect(exitCode, stderr).toBe(0);
  expect(stderr).toContain('carbon-mirror install-url ready-app');
  const env = parseEnv(stdout);
  expect(Object.keys(env).toSorted()).toEqual([
    'REGISTRY_APP_ID',
    'REGISTRY_BASE_URL',
    'REGISTRY_HEADER_PREFIX',
    'REGISTRY_PRIVATE_KEY_FILE',
    'WEBHOOK_SECRETS',
  ]);
  expect(env['WEBHOOK_SECRETS']).toMatch(/^[0-9a-f]{64}$/);
  expect(await answerOf('GET', `/apps/${env['REGISTRY_APP_ID']}`)).toMatchObject({
    webhookUrl: 'http://127.0.0.1:8080/webhooks',
    callbackUrls: ['http://127.0.0.1:8080/installed'],
    hasWebhookSecret: true,
  });
  const outcome = await runCommand(['doctor', '--json'], {
    env: Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value ?? ''])),
  });
  const found = `answers and knows the app ${env['REGISTRY_APP_ID']}`;
  expect(JSON.parse(outcome.stdout)).toContainEqual(
    expect.objectContaining({ check: 'registry', state: 'ok', found: expect.stringContaining(found) }),
  );
});

test('sandbox app registers the given webhook URL, secret and permissions and prints the secret', async () => {
  const webhook = ['--webhook-url', 'http://127.0.0.1:9/hook', '--webhook-secret', 'a secret of the shop'];
  const permission = ['--permission', 'organization_warehouse:write', 'organization_members:read'];
  const argv = ['sandbox', 'app', 'Shop', ...webhook, ...permission];
  const { stdout } = await runCommand(argv, { env: { REGISTRY_BASE_URL: sandbox.url } });
  const { WEBHOOK_SECRETS: secret, REGISTRY_APP_ID: id } = parseEnv(stdout);
  expect(secret).toBe('a secret of the shop');
  expect(await answerOf('GET', `/apps/${id}`)).toMatchObject({
    name: 'Shop',
    webhookUrl: 'http://127.0.0.1:9/hook',
    permissions: { organization_warehouse: 'WRITE', organization_members: 'VIEW' },
  });
});

test('sandbox app registers callback URLs, by default at the host of the webhook URL', async () => {
  const register = async (...options: string[]) => {
    const argv = ['sandbox', 'app', `Callback ${options.length}`, '--url', sandbox.url, ...options];
    const { REGISTRY_APP_ID: id } = parseEnv((await runCommand(argv, { env: {} })).stdout);
    return await answerOf('GET', `/apps/${id}`);
  };
  const webhook = ['--webhook-url', 'https://shop.example:8443/hooks'];
  expect((await register(...webhook)).callbackUrls).toEqual(['https://shop.example:8443/installed']);
  const callbacks = ['https://shop.example/back', 'http://127.0.0.1:3000/back'];
  expect(await register(...webhook, '--callback-url', ...callbacks)).toMatchObject({
    callbackUrls: callbacks,
    permissions: { organization_info: 'VIEW' },
  });
  expect((await register('--without-organization-info')).permissions).toEqual({});
});

test('sandbox app prints the header prefix of the sandbox, not of the environment', async () => {
  const icr = await startTemporarySandbox({ headerPrefix: 'icr', profile: 'as-documented' });
  const argv = ['sandbox', 'app', 'Asked', '--url', icr.url];
  const { stdout, stderr } = await runCommand(argv, { env: { REGISTRY_HEADER_PREFIX: 'registry' } });
  expect(parseEnv(stdout)['REGISTRY_HEADER_PREFIX']).toBe('icr');
  expect(stderr).toContain('The sandbox uses the profile as-documented.');
});

test('sandbox call installs an app, suspends it, and exits with 3 if it is suspended twice', async () => {
  const app = registerApp(sandbox);
  const { id: organizationId } = createOrganization(sandbox);
  const data = JSON.stringify({ appId: app.id, organizationId });
  const installation = await answerOf('POST', '/installations', '--data', data);
  expect(installation).toMatchObject({ appId: app.id, organization: { id: organizationId } });
  await answerOf('POST', `/installations/${installation.id}/suspend`);
  const { installations } = await answerOf('GET', '/installations');
  expect(installations.find((each: { id: string }) => each.id === installation.id).state).toBe('suspended');
  expect(await call('POST', `/installations/${installation.id}/suspend`)).toMatchObject({
    exitCode: 3,
    stdout: '',
    stderr: expect.stringContaining('already suspended'),
  });
});

test('sandbox call adds and removes faults and moves the clock', async () => {
  const fault = { kind: 'status', options: { status: 503, retryAfter: 2 }, path: '/projects', count: 1 };
  const { id } = await answerOf('POST', '/faults', '--data', JSON.stringify(fault));
  expect((await fetch(`${sandbox.url}/projects`)).headers.get('retry-after')).toBe('2');
  expect(await answerOf('DELETE', `/faults/${id}`)).toEqual({});
  expect(await answerOf('PATCH', '/webhooks', '--data', '{"drop":0}')).toMatchObject({ drop: 0 });
  expect(await answerOf('POST', '/clock', '--data', '{"frozen":true}')).toMatchObject({ isFrozen: true });
});

test.each([
  [2, 'permissions: ', ['POST', '/apps', '--data', '{"name":"x","permissions":["root"]}']],
  [2, 'kind must be one of', ['POST', '/faults', '--data', '{"kind":"weird"}']],
  [2, '--data: expected JSON', ['POST', '/faults', '--data', '{']],
  [2, 'Expected a path such as /organizations', ['GET', 'organizations']],
  [2, 'Expected one of GET, POST', ['PUT', '/apps']],
  [6, 'Fault not found', ['DELETE', '/faults/999']],
  [6, 'App not found', ['GET', '/apps/nobody']],
])('sandbox call exits with %i and prints %s', async (exitCode, expectedOutput, argv) => {
  const outcome = await call(...argv);
  expect(outcome, argv.join(' ')).toMatchObject({ exitCode, stdout: '' });
  expect(outcome.stderr).toContain(expectedOutput);
  expect(outcome.stderr).not.toMatch(/\n\s+at /);
});

describe('the URL of the sandbox', () => {
  const STATUS = ['sandbox', 'call', 'GET', '/status'];

  test('without a running sandbox leads to an error with advice', async () => {
    const { exitCode, stderr } = await runCommand([...STATUS, '--url', 'http://127.0.0.1:1']);
    expect(exitCode).toBe(5);
    expect(stderr).toContain('carbon-mirror sandbox start');
  });

  test('T30 on another machine is refused before a call', async () => {
    const env = { REGISTRY_BASE_URL: 'https://registry.example' };
    const outcome = await runCommand(STATUS, { env });
    expect(outcome).toMatchObject({ exitCode: 2, stdout: '' });
    expect(outcome.stderr).toContain('REGISTRY_BASE_URL is not a URL on this machine');
    for (const url of [
      'http://127.0.0.1.evil.example',
      'http://10.0.0.1:8090',
      'file:///etc/passwd',
      'here',
    ]) {
      expect(await runCommand([...STATUS, '--url', url])).toMatchObject({ exitCode: 2 });
    }
  });

  test('defaults to SANDBOX_PORT on this machine', async () => {
    const env = { SANDBOX_PORT: String(sandbox.port), DATA_DIR: createTemporarySandboxFolder() };
    expect(await runCommand(STATUS, { env })).toMatchObject({ exitCode: 0, stderr: '' });
  });
});
