import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createControlClient } from '../../src/sandbox/control/control-client.js';
import { CONTROL_ROUTES } from '../../src/sandbox/control/control-routes.js';
import {
  ALL_PERMISSIONS,
  createCaller,
  createControlCaller,
  createOrganization,
  createPrivateKey,
  getPublicKey,
  installApp,
  issueCredit,
  mintToken,
  signAppJwt,
  startSandboxForFile,
  VERSION,
} from '../support/sandbox.js';

const sandbox = await startSandboxForFile();
const control = createControlCaller(sandbox);

test('the control API does everything that people do in a registry', async () => {
  const post = async (path: string, body?: unknown, method = 'POST') => {
    const answer = await control(`${method} ${path}`, body);
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };
  const privateKey = createPrivateKey();
  const app = await post('/apps', {
    name: 'Walker',
    permissions: ['organization_warehouse:write', 'organization_inventory:read_request'],
    webhookSecret: 'a secret of some length',
    publicKeys: [getPublicKey(privateKey)],
  });
  expect(app).toMatchObject({
    name: 'Walker',
    nameId: 'walker',
    permissions: {
      organization_info: 'VIEW',
      organization_warehouse: 'WRITE',
      organization_inventory: 'REQUEST',
    },
    webhookUrl: null,
    hasWebhookSecret: true,
    keys: [{ fingerprint: expect.any(String) }],
  });
  const { organization } = await post('/organizations', {
    user: { email: 'walker@people.example', fullName: 'Walker' },
    organization: { fullName: 'Walkers', type: 'marketParticipant', countryCode: 'IS' },
  });
  const project = await post('/projects', { fullName: 'Path', countryCode: 'IS' });
  const issue = { organizationId: organization.id, projectId: project.id, amount: 10, vintage: '2022' };
  const serialization = 'ICR-ISL-354-900-1-R-0-2022';
  const { creditId } = await post('/credits', { ...issue, serialization });
  expect(creditId).toMatch(/^exPost-1-0x[0-9a-f]{40}$/);
  await post('/credits', { organizationId: organization.id, creditId, amount: 5 });
  await post(`/organizations/${organization.id}/deposit`, { creditId, amount: 4 });
  await post(`/organizations/${organization.id}/withdraw`, { creditId, amount: 1 });
  const installation = await post('/installations', { appId: app.id, organizationId: organization.id });
  await post(`/installations/${installation.id}/suspend`);
  const again = await control(`POST /installations/${installation.id}/suspend`);
  const message = 'The installation is already suspended';
  expect(again).toMatchObject({ status: 409, body: { message } });
  await post(`/installations/${installation.id}/unsuspend`);
  await post(`/apps/${app.id}`, { permissions: ALL_PERMISSIONS }, 'PATCH');
  await post(`/installations/${installation.id}/accept-permissions`);

  const call = createCaller(sandbox, mintToken(sandbox, { ...app, privateKey }, installation.id));
  const root = `/organizations/${organization.id}`;
  const deposited = { id: creditId, amount: 3, supply: 15, serialization, vintage: '2022' };
  expect((await call(`GET ${root}/warehouse/inventory`)).body.credits).toMatchObject([deposited]);
  expect((await call(`GET ${root}/inventory`)).body.credits).toMatchObject([{ amount: 12 }]);
  expect((await call(`GET ${root}/members`)).status).toBe(200);

  const readInstallations = async () => (await control('GET /installations')).body.installations;
  expect(await readInstallations()).toMatchObject([{ id: installation.id, state: 'active' }]);
  await post(`/installations/${installation.id}/uninstall`);
  expect(await readInstallations()).toMatchObject([{ state: 'uninstalled' }]);
  const { calls } = (await control(`GET /calls?appId=${app.id}&installationId=${installation.id}&limit=2`))
    .body;
  expect(calls).toMatchObject([{ path: `${root}/members` }, { path: `${root}/inventory` }]);
});

test('the control client returns the answer, and throws the refusal of the sandbox as an error', async () => {
  const client = createControlClient(`${sandbox.url}/`);
  expect(await client('GET', '/webhooks')).toEqual(sandbox.registry.deliveries.getSettings());
  const missing = { name: 'ControlError', statusCode: 404, message: 'App not found' };
  await expect(client('GET', '/apps/nope')).rejects.toMatchObject(missing);
  await expect(client('POST', '/apps', {})).rejects.toMatchObject({ statusCode: 400 });
});

test('the clock can be moved, frozen and resumed', async () => {
  const change = async (body: object) => (await control('POST /clock', body)).body;
  const at = '2031-05-01T12:00:00.000Z';
  expect(await change({ frozen: true, at })).toEqual({ now: at, isFrozen: true });
  expect((await control('GET /clock')).body).toEqual({ now: at, isFrozen: true });
  expect(await change({ moveMs: 600_000 })).toEqual({ now: '2031-05-01T12:10:00.000Z', isFrozen: true });
  expect((await change({ frozen: false })).isFrozen).toBe(false);
  const back = await change({ moveMs: Date.now() - sandbox.registry.store.clock.now() });
  expect(Math.abs(Date.parse(back.now) - Date.now())).toBeLessThan(60_000);
});

describe('T78 the control API answers only to programs on this machine', () => {
  /** Calls with headers that `fetch` does not allow. */
  async function call(path: string, headers: Record<string, string>): Promise<IncomingMessage> {
    return await new Promise((resolve, reject) => {
      request(`${sandbox.url}${path}`, { headers, agent: false }, answer => resolve(answer.resume()))
        .on('error', reject)
        .end();
    });
  }

  test.each([
    { origin: 'http://127.0.0.1' },
    { 'x-forwarded-for': '127.0.0.1' },
    { forwarded: 'for=127.0.0.1' },
    { 'x-forwarded-host': 'localhost' },
    { 'x-forwarded-proto': 'https' },
    { 'x-forwarded-port': '443' },
    { 'x-forwarded-server': 'proxy' },
    { 'x-forwarded': 'for=127.0.0.1' },
    { 'x-real-ip': '127.0.0.1' },
    { 'true-client-ip': '127.0.0.1' },
    { 'cf-connecting-ip': '127.0.0.1' },
    { via: '1.1 proxy' },
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { host: 'attacker.example' },
    { host: 'attacker.example:8090' },
    { host: 'localhost.attacker.example' },
    { host: '127.0.0.1.attacker.example:8090' },
    { host: '.' },
  ])('it refuses %j', async headers => {
    const { statusCode, headers: received } = await call('/_sandbox/apps', headers);
    expect(statusCode).toBe(403);
    expect(received['content-type']).toContain('application/problem+json');
  });

  test.each(['localhost', 'LOCALHOST:1', '127.0.0.1', '127.8.9.10:8090', '[::1]', '[::1]:8090'])(
    'it accepts the host name %s',
    async host => {
      expect(await call('/_sandbox/apps', { host })).toMatchObject({ statusCode: 200 });
    },
  );

  test('the registry’s own endpoints answer anybody', async () => {
    const authorization = `Bearer ${signAppJwt(sandbox, installApp(sandbox).app)}`;
    for (const more of [{ host: 'registry.internal' }, { 'sec-fetch-site': 'cross-site' }]) {
      const answer = await call('/app/installations', { ...VERSION, authorization, ...more });
      expect(answer).toMatchObject({ statusCode: 200 });
    }
  });
});

test('a credit is issued up to the largest exact amount', async () => {
  const { id: organizationId } = createOrganization(sandbox);
  const creditId = issueCredit(sandbox, organizationId, { amount: 999_999_999.999999 });
  const issue = (amount: number) => control('POST /credits', { organizationId, creditId, amount });
  expect((await issue(0.000002)).status).toBe(409);
  expect((await issue(0.000001)).body.amount).toBe(0.000001);
  expect((await issue(0.000001)).status).toBe(409);
});

test('docs/client-and-sandbox.md names exactly the routes of the control API', () => {
  const routes = CONTROL_ROUTES.map(([route]) => {
    const [method, path = ''] = route.split(' ');
    return `${method} ${path.replaceAll(/:(\w+)/g, '<$1>')}`;
  });
  const docs = readFileSync(join(import.meta.dirname, '../../docs/client-and-sandbox.md'), 'utf8');
  const [, section = ''] = docs.split('### The control API');
  const named = [...section.matchAll(/`((?:GET|POST|PATCH|DELETE) \/[^`?]+)`/g)].map(([, route]) => route);
  expect(new Set(named)).toEqual(new Set(routes));
});
