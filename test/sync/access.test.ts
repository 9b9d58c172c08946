import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { readAccess } from '../../src/sync/installation/access.js';
import { clientOf } from '../support/program.js';
import { callsTo, installApp, temporarySandbox } from '../support/sandbox.js';

async function installed() {
  const sandbox = await temporarySandbox();
  const { app, organization, installationId } = installApp(sandbox);
  const clients = clientOf(sandbox, app, Date.now);
  const ask = { appId: app.id, renewToken: false, known: null };
  const known = { state: 'active', organizationId: organization.id };
  return { sandbox, app, organization, installationId, clients, ask, known, registry: sandbox.registry };
}

test('an installation that answers and gives tokens is active', async () => {
  const { clients, installationId, organization, ask } = await installed();
  const access = await readAccess(clients, installationId, ask);
  expect(access).toMatchObject({ state: 'active', organizationId: organization.id });
});

test('one that answers and refuses a new token while the app is served is suspended', async () => {
  const { clients, installationId, registry, known, ask } = await installed();
  await readAccess(clients, installationId, ask);
  registry.installations.suspend(installationId);
  expect(await readAccess(clients, installationId, { ...ask, known, renewToken: true })).toMatchObject({
    state: 'suspended',
  });
  registry.installations.unsuspend(installationId);
  const suspended = { ...known, state: 'suspended' };
  expect(await readAccess(clients, installationId, { ...ask, known: suspended })).toMatchObject({
    state: 'active',
  });
});

test('a token that is good is not asked for again where permissions are said and nobody wants a proof', async () => {
  const { clients, installationId, known, sandbox, ask } = await installed();
  await readAccess(clients, installationId, ask);
  const before = callsTo(sandbox, '/accessTokens');
  await readAccess(clients, installationId, { ...ask, known });
  expect(callsTo(sandbox, '/accessTokens')).toBe(before);
  await readAccess(clients, installationId, { ...ask, known, renewToken: true });
  expect(callsTo(sandbox, '/accessTokens')).not.toBe(before);
});

test('of one that is suspended and never says its permissions they are not known', async () => {
  const { clients, installationId, registry, known, ask } = await installed();
  registry.installations.suspend(installationId);
  const readInstallation: typeof clients.app.readInstallation = async (...asked) => ({
    ...(await clients.app.readInstallation(...asked)),
    permissions: null,
  });
  const silent = { ...clients, app: { ...clients.app, readInstallation } };
  const access = await readAccess(silent, installationId, { ...ask, known });
  expect(access).toMatchObject({ state: 'suspended', installation: { permissions: null } });
});

test("T40 one that is gone in the registry's own words is uninstalled, and no token is asked for", async () => {
  const { clients, installationId, registry, known, sandbox, ask } = await installed();
  registry.installations.uninstall(installationId);
  const before = callsTo(sandbox, '/accessTokens');
  expect(await readAccess(clients, installationId, { ...ask, known, renewToken: true })).toEqual({
    state: 'uninstalled',
  });
  expect(callsTo(sandbox, '/accessTokens')).toBe(before);
});

test.each([
  ['a page of HTML with 200', 200, 'text/html', '<h1>Welcome</h1>'],
  ['a page of HTML with 404', 404, 'text/html', '<h1>Not here</h1>'],
  ['a 404 in a foreign shape', 404, 'application/json', '{"message":"no route"}'],
])('T34 %s uninstalls nobody', async (_name, status, type, body) => {
  const { sandbox, app, installationId, ask } = await installed();
  const proxy = createServer((_request, response) =>
    response.writeHead(status, { 'content-type': type }).end(body),
  );
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  const address = proxy.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const clients = clientOf(sandbox, app, Date.now, { baseUrl: `http://127.0.0.1:${port}` });
  await expect(readAccess(clients, installationId, ask)).rejects.toMatchObject({ code: 'bad_answer' });
});

test('an installation that suddenly names another organization is believed in nothing', async () => {
  const { clients, installationId, ask } = await installed();
  const known = { state: 'active', organizationId: 'another-organization' };
  await expect(readAccess(clients, installationId, { ...ask, known })).rejects.toMatchObject({
    code: 'bad_answer',
  });
});
