import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { listenOnFreePort } from '../support/listen.js';
import { createInstallationJob } from '../../src/inbox/job.js';
import { createAccessChecker, readAccess } from '../../src/sync/installation/access.js';
import { resolveInstallationRun } from '../../src/sync/installation/read-context.js';
import { getOnly } from '../support/inbox.js';
import { openJobStage } from '../support/job-stage.js';
import { createTestClient } from '../support/program.js';
import { countCallsTo, installApp, startTemporarySandbox } from '../support/sandbox.js';

async function installSandboxApp() {
  const sandbox = await startTemporarySandbox();
  const { app, organization, installationId } = installApp(sandbox);
  const clients = createTestClient(sandbox, app, Date.now);
  const options = { appId: app.id, renewToken: false, storedInstallation: null };
  const known = { state: 'active', organizationId: organization.id };
  return { sandbox, app, organization, installationId, clients, options, known, registry: sandbox.registry };
}

test('an installation that answers and gives tokens is active', async () => {
  const { clients, installationId, organization, options } = await installSandboxApp();
  const access = await readAccess(clients, installationId, options);
  expect(access).toMatchObject({ state: 'active', organizationId: organization.id });
});

test('an installation that answers but refuses a new token is suspended', async () => {
  const { clients, installationId, registry, known, options } = await installSandboxApp();
  await readAccess(clients, installationId, options);
  registry.installations.suspend(installationId);
  expect(
    await readAccess(clients, installationId, { ...options, storedInstallation: known, renewToken: true }),
  ).toMatchObject({
    state: 'suspended',
  });
  registry.installations.unsuspend(installationId);
  const suspended = { ...known, state: 'suspended' };
  expect(
    await readAccess(clients, installationId, { ...options, storedInstallation: suspended }),
  ).toMatchObject({
    state: 'active',
  });
});

test('a valid token is reused unless a new one is requested as proof', async () => {
  const { clients, installationId, known, sandbox, options } = await installSandboxApp();
  await readAccess(clients, installationId, options);
  const before = countCallsTo(sandbox, '/accessTokens');
  await readAccess(clients, installationId, { ...options, storedInstallation: known });
  expect(countCallsTo(sandbox, '/accessTokens')).toBe(before);
  await readAccess(clients, installationId, { ...options, storedInstallation: known, renewToken: true });
  expect(countCallsTo(sandbox, '/accessTokens')).not.toBe(before);
});

test('permissions are unknown for a suspended installation that does not show them', async () => {
  const { clients, installationId, registry, known, options } = await installSandboxApp();
  registry.installations.suspend(installationId);
  const readInstallation: typeof clients.app.readInstallation = async (...args) => ({
    ...(await clients.app.readInstallation(...args)),
    permissions: null,
  });
  const silent = { ...clients, app: { ...clients.app, readInstallation } };
  const access = await readAccess(silent, installationId, { ...options, storedInstallation: known });
  expect(access).toMatchObject({ state: 'suspended', installation: { permissions: null } });
});

test('T40 an installation is uninstalled when the registry answers 404 in its own format, and no token is requested', async () => {
  const { clients, installationId, registry, known, sandbox, options } = await installSandboxApp();
  registry.installations.uninstall(installationId);
  const before = countCallsTo(sandbox, '/accessTokens');
  expect(
    await readAccess(clients, installationId, { ...options, storedInstallation: known, renewToken: true }),
  ).toEqual({
    state: 'uninstalled',
  });
  expect(countCallsTo(sandbox, '/accessTokens')).toBe(before);
});

test.each([
  ['a page of HTML with 200', 200, 'text/html', '<h1>Welcome</h1>'],
  ['a page of HTML with 404', 404, 'text/html', '<h1>Not here</h1>'],
  ['a 404 in a foreign shape', 404, 'application/json', '{"message":"no route"}'],
])('T34 %s does not uninstall an installation', async (_name, status, type, body) => {
  const { sandbox, app, installationId, options } = await installSandboxApp();
  const proxy = createServer((_request, response) =>
    response.writeHead(status, { 'content-type': type }).end(body),
  );
  const port = await listenOnFreePort(proxy);
  const clients = createTestClient(sandbox, app, Date.now, { baseUrl: `http://127.0.0.1:${port}` });
  await expect(readAccess(clients, installationId, options)).rejects.toMatchObject({ code: 'bad_answer' });
});

test('an installation whose answer names no organization belongs to the organization of its token', async () => {
  const { clients, installationId, organization, options } = await installSandboxApp();
  const readInstallation: typeof clients.app.readInstallation = async (...args) => ({
    ...(await clients.app.readInstallation(...args)),
    organizationId: null,
  });
  const silent = { ...clients, app: { ...clients.app, readInstallation } };
  const access = await readAccess(silent, installationId, options);
  expect(access).toMatchObject({ state: 'active', organizationId: organization.id });
});

test.each([
  ['busy', 'organization_busy'],
  ['lost', 'claim_lost'],
] as const)('a job whose organization is %s fails with %s and stores nothing', async (assignment, code) => {
  const { context, installationId, mirror } = await openJobStage();
  await context.inbox.enqueue([createInstallationJob(installationId, null, 'person')]);
  const { jobs } = await context.inbox.claim({ parts: [{ part: 'data', slots: 1 }], leaseMs: 60_000 });
  const running = {
    job: getOnly(jobs),
    signal: new AbortController().signal,
    yieldTurn: async () => undefined,
  };
  const inbox = { ...context.inbox, assignOrganization: async () => assignment };
  const accessChecker = createAccessChecker(
    { ...context, inbox },
    await resolveInstallationRun(context, running),
  );
  await expect(accessChecker.checkAtStart()).rejects.toMatchObject({ code });
  expect(await mirror.rows('SELECT 1 FROM installations')).toEqual([]);
});

test('an answer that names another organization is rejected as a bad answer', async () => {
  const { clients, installationId, options } = await installSandboxApp();
  const known = { state: 'active', organizationId: 'another-organization' };
  await expect(
    readAccess(clients, installationId, { ...options, storedInstallation: known }),
  ).rejects.toMatchObject({
    code: 'bad_answer',
  });
});
