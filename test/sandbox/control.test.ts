import { readFileSync } from 'node:fs';
import { type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createControlClient } from '../../src/sandbox/control/control-client.js';
import { CONTROL_ROUTES } from '../../src/sandbox/control/control-routes.js';
import {
  ALL_PERMISSIONS,
  callSandbox,
  createPrivateKey,
  installApp,
  issueCredit,
  mintToken,
  getPublicKey,
  registerApp,
  signAppJwt,
  startSandboxForFile,
  VERSION,
} from '../support/sandbox.js';

const sandbox = await startSandboxForFile();

test('the control API does everything that people do in a registry', async () => {
  const control = createControlClient(sandbox.url);
  /** Calls the control API with headers that `fetch` does not allow. */
  const callWithHeaders = async (method: string, path: string, body?: unknown) => {
    const answer = await callSandbox(
      sandbox,
      `${method} /_sandbox${path}`,
      body === undefined ? {} : { body },
    );
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return answer.body;
  };
  const privateKey = createPrivateKey();
  const app = await callWithHeaders('POST', '/apps', {
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
  const { organization } = await callWithHeaders('POST', '/organizations', {
    user: { email: 'walker@people.example', fullName: 'Walker' },
    organization: { fullName: 'Walkers', type: 'marketParticipant', countryCode: 'IS' },
  });
  const project = await callWithHeaders('POST', '/projects', { fullName: 'Path', countryCode: 'IS' });
  const { creditId } = await callWithHeaders('POST', '/credits', {
    organizationId: organization.id,
    projectId: project.id,
    amount: 10,
    vintage: '2022',
    serialization: 'ICR-ISL-354-900-1-R-0-2022',
  });
  await callWithHeaders('POST', '/credits', { organizationId: organization.id, creditId, amount: 5 });
  await callWithHeaders('POST', `/organizations/${organization.id}/deposit`, { creditId, amount: 4 });
  await callWithHeaders('POST', `/organizations/${organization.id}/withdraw`, { creditId, amount: 1 });
  const installation = await callWithHeaders('POST', '/installations', {
    appId: app.id,
    organizationId: organization.id,
  });
  await callWithHeaders('POST', `/installations/${installation.id}/suspend`);
  await callWithHeaders('POST', `/installations/${installation.id}/unsuspend`);
  await callWithHeaders('PATCH', `/apps/${app.id}`, { permissions: ALL_PERMISSIONS });
  await callWithHeaders('POST', `/installations/${installation.id}/accept-permissions`);

  const token = mintToken(sandbox, { id: app.id, name: app.name, privateKey }, installation.id);
  const root = `/organizations/${organization.id}`;
  expect(
    (await callSandbox(sandbox, `GET ${root}/warehouse/inventory`, { token })).body.credits,
  ).toMatchObject([
    { id: creditId, amount: 3, supply: 15, serialization: 'ICR-ISL-354-900-1-R-0-2022', vintage: '2022' },
  ]);
  expect((await callSandbox(sandbox, `GET ${root}/inventory`, { token })).body.credits).toMatchObject([
    { amount: 12 },
  ]);
  expect((await callSandbox(sandbox, `GET ${root}/members`, { token })).status).toBe(200);

  expect(await control('GET', '/installations')).toMatchObject({
    installations: [{ id: installation.id, state: 'active' }],
  });
  await callWithHeaders('POST', `/installations/${installation.id}/uninstall`);
  expect(await control('GET', '/installations')).toMatchObject({ installations: [{ state: 'uninstalled' }] });
  expect(
    await control('GET', `/calls?appId=${app.id}&installationId=${installation.id}&limit=2`),
  ).toMatchObject({
    calls: [{ path: `${root}/members` }, { path: `${root}/inventory` }],
  });
});

test('the control client throws the refusal of the sandbox as an error', async () => {
  const control = createControlClient(`${sandbox.url}/`);
  await expect(control('GET', '/apps/nope')).rejects.toMatchObject({
    statusCode: 404,
    message: 'App not found',
  });
  await expect(control('POST', '/apps', {})).rejects.toMatchObject({ statusCode: 400 });
});

test.each([
  ['as names', ['organization_info:view'], /organization_info:read, .*got organization_info:view/],
  ['with levels', { organization_info: 'WRITE' }, /organization_info: VIEW, .*got organization_info: WRITE/],
])('an unknown permission is refused with a list of the known ones, %s', async (_, permissions, said) => {
  const { status, body } = await callSandbox(sandbox, 'POST /_sandbox/apps', {
    body: { name: 'Other', permissions },
  });
  expect(status).toBe(400);
  expect(JSON.stringify(body)).toMatch(said);
});

describe('the clock', () => {
  test('can be moved, frozen and resumed', async () => {
    const clock = async (body: object) => (await callSandbox(sandbox, 'POST /_sandbox/clock', { body })).body;
    const at = '2031-05-01T12:00:00.000Z';
    expect(await clock({ frozen: true, at })).toEqual({ now: at, isFrozen: true });
    expect((await callSandbox(sandbox, 'GET /_sandbox/clock')).body).toEqual({ now: at, isFrozen: true });
    expect(await clock({ moveMs: 600_000 })).toEqual({ now: '2031-05-01T12:10:00.000Z', isFrozen: true });
    expect((await clock({ frozen: false })).isFrozen).toBe(false);
    const back = await clock({ moveMs: Date.now() - sandbox.registry.store.clock.now() });
    expect(Math.abs(Date.parse(back.now) - Date.now())).toBeLessThan(60_000);
  });

  test.each([
    { moveMs: 'x' },
    { moveMs: 1.5 },
    { moveMs: 1e300 },
    { at: 'noon' },
    { frozen: 'yes' },
    { moveMs: 9e15 },
  ])('refuses %j', async body => {
    const before = sandbox.registry.store.clock.getState();
    expect((await callSandbox(sandbox, 'POST /_sandbox/clock', { body })).status).toBe(400);
    expect(sandbox.registry.store.clock.getState()).toEqual(before);
  });
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
    const { statusCode, headers: came } = await call('/_sandbox/apps', headers);
    expect(statusCode).toBe(403);
    expect(came['content-type']).toContain('application/problem+json');
  });

  test.each(['localhost', 'LOCALHOST:1', '127.0.0.1', '127.8.9.10:8090', '[::1]', '[::1]:8090'])(
    'it accepts the host name %s',
    async host => {
      expect(await call('/_sandbox/apps', { host })).toMatchObject({ statusCode: 200 });
    },
  );

  test('the registry’s own endpoints answer anybody', async () => {
    const { app } = installApp(sandbox);
    const authorization = `Bearer ${signAppJwt(sandbox, app)}`;
    for (const more of [{ host: 'registry.internal' }, { 'sec-fetch-site': 'cross-site' }]) {
      const answer = await call('/app/installations', { ...VERSION, authorization, ...more });
      expect(answer).toMatchObject({ statusCode: 200 });
    }
  });
});

describe('the control API refuses', () => {
  test.each<[string, object | undefined, number]>([
    ['POST /apps', {}, 400],
    ['POST /apps', { name: '' }, 400],
    ['POST /apps', { name: 'x', permissions: { organization_info: 'WRITE' } }, 400],
    ['POST /apps', { name: 'x', permissions: ['organization_everything:read'] }, 400],
    ['POST /apps', { name: 'x', permissions: 'all' }, 400],
    ['POST /apps', { name: 'x', webhookUrl: 'ftp://x' }, 400],
    ['POST /apps', { name: 'x', publicKeys: ['no key'] }, 400],
    ['POST /apps', { name: 'x', publicKeys: 'no list' }, 400],
    ['GET /apps/nope', undefined, 404],
    ['PATCH /apps/nope', {}, 404],
    ['POST /apps/nope/keys', { publicKey: 'x' }, 404],
    ['DELETE /apps/nope/keys', undefined, 404],
    ['POST /organizations', {}, 400],
    ['POST /organizations/nope/claim', undefined, 404],
    ['POST /organizations/nope/deposit', { creditId: 'x', amount: 1 }, 404],
    ['POST /organizations/nope/retire-off-platform', { creditId: 'x', amount: 1 }, 404],
    ['POST /projects', {}, 400],
    ['PATCH /projects/nope', {}, 404],
    ['POST /credits', {}, 400],
    ['POST /credits', { organizationId: 'nope', projectId: 'nope', amount: 1 }, 404],
    ['PATCH /retirements/nope', { beneficiary: 'x', reason: 'y' }, 404],
    ['POST /installations', {}, 400],
    ['POST /installations', { appId: 'nope', organizationId: 'nope' }, 404],
    ['POST /installations/nope/suspend', undefined, 404],
    ['POST /installations/nope/uninstall', undefined, 404],
    ['POST /installations/nope/accept-permissions', undefined, 404],
    ['POST /requests/nope/accept', undefined, 404],
    ['POST /requests/nope/decline', undefined, 404],
    ['GET /calls?limit=0', undefined, 400],
    ['PATCH /webhooks', { drop: -1 }, 400],
    ['PATCH /webhooks', { hold: 'yes' }, 400],
    ['GET /deliveries?limit=x', undefined, 400],
    ['GET /deliveries/x', undefined, 404],
    ['POST /deliveries/999/resend', undefined, 404],
    ['POST /deliveries/1e400/drop', undefined, 404],
    ['POST /deliveries/release', { ids: ['x'] }, 400],
    ['DELETE /faults/999', undefined, 404],
    ['GET /nothing', undefined, 404],
  ])('%s %j with %i', async (call, body, status) => {
    const [method, path] = call.split(' ');
    const answer = await callSandbox(
      sandbox,
      `${method} /_sandbox${path}`,
      body === undefined ? {} : { body },
    );
    expect(answer.status, JSON.stringify(answer.body)).toBe(status);
    expect(answer.body).toMatchObject({ statusCode: status });
  });

  test('a second installation on the same organization, a name in use and a second suspension', async () => {
    const { app, organization, installationId } = installApp(sandbox);
    const body = { appId: app.id, organizationId: organization.id };
    expect((await callSandbox(sandbox, 'POST /_sandbox/installations', { body })).status).toBe(409);
    expect((await callSandbox(sandbox, 'POST /_sandbox/apps', { body: { name: app.name } })).status).toBe(
      409,
    );
    await callSandbox(sandbox, `POST /_sandbox/installations/${installationId}/suspend`);
    const again = await callSandbox(sandbox, `POST /_sandbox/installations/${installationId}/suspend`);
    expect(again.body).toMatchObject({ statusCode: 409, message: 'The installation is already suspended' });
    expect(
      (await callSandbox(sandbox, `POST /_sandbox/installations/${installationId}/unsuspend`)).status,
    ).toBe(200);
  });
});

test('a credit is issued up to the largest exact amount', async () => {
  const { organization } = installApp(sandbox);
  const creditId = issueCredit(sandbox, organization.id, { amount: 999_999_999.999999 });
  const issue = (amount: number) =>
    callSandbox(sandbox, 'POST /_sandbox/credits', {
      body: { organizationId: organization.id, creditId, amount },
    });
  expect((await issue(0.000002)).status).toBe(409);
  expect((await issue(0.000001)).body.amount).toBe(0.000001);
  expect((await issue(0.000001)).status).toBe(409);
});

test('an app that loses its last key can no longer sign', async () => {
  const app = registerApp(sandbox);
  const { keys } = sandbox.registry.apps.get(app.id);
  const query = encodeURIComponent(keys[0]?.fingerprint ?? '');
  const token = signAppJwt(sandbox, app);
  expect((await callSandbox(sandbox, 'GET /app/installations', { token })).status).toBe(200);
  expect(
    (await callSandbox(sandbox, `DELETE /_sandbox/apps/${app.id}/keys?fingerprint=${query}`)).status,
  ).toBe(200);
  expect((await callSandbox(sandbox, 'GET /app/installations', { token })).status).toBe(401);
});

test('docs/client-and-sandbox.md names exactly the routes of the control API', () => {
  const routes = CONTROL_ROUTES.map(([route]) => {
    const [method, path = ''] = route.split(' ');
    return `${method} ${path.replaceAll(/:(\w+)/g, '<$1>')}`;
  });
  const docs = readFileSync(join(import.meta.dirname, '../../docs/client-and-sandbox.md'), 'utf8');
  const [, control = ''] = docs.split('### The control API');
  const named = [...control.matchAll(/`((?:GET|POST|PATCH|DELETE) \/[^`?]+)`/g)].map(([, route]) => route);
  expect(new Set(named)).toEqual(new Set(routes));
});
