import { createPrivateKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../../src/client.js';
import type { CallRecord } from '../../../src/registry/http/http-types.js';
import { collect } from '../../support/registry-client.js';
import {
  createOrganization,
  installApp,
  registerApp,
  type TestApp,
  startTemporarySandbox,
} from '../../support/sandbox.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const refused = / 40[13]$/;

/** Creates a client with its own clock. Records every call and every correction of the clock. */
function createRecordingClient(
  url: string,
  app: TestApp,
  now: () => number,
  privateKey: string = app.privateKey,
) {
  const calls: string[] = [];
  const corrections: number[] = [];
  const client = createClient({
    baseUrl: url,
    appId: app.id,
    privateKey,
    now,
    random: () => 0,
    requestsPerSecond: Infinity,
    concurrency: 50,
    onCall: ({ method, route, status }: CallRecord) => calls.push(`${method} ${route} ${status}`),
    onClockCorrection: offset => corrections.push(offset),
  });
  const countTokenRequests = () => calls.filter(call => call.endsWith('/accessTokens 200')).length;
  return { client, calls, corrections, countTokenRequests };
}

describe('the client against the sandbox', () => {
  it('a private key in PKCS#1 form signs valid JWTs', async () => {
    const sandbox = await startTemporarySandbox();
    const app = registerApp(sandbox);
    const pkcs1 = createPrivateKey(app.privateKey).export({ type: 'pkcs1', format: 'pem' }).toString();
    const { client } = createRecordingClient(sandbox.url, app, Date.now, pkcs1.replaceAll('\n', '\\n'));
    expect(await collect(client.token.listProjects())).toEqual([]);
  });

  it('a JWT signed with a key of another app is unauthorized', async () => {
    const sandbox = await startTemporarySandbox();
    const { client } = createRecordingClient(
      sandbox.url,
      registerApp(sandbox),
      Date.now,
      registerApp(sandbox).privateKey,
    );
    await expect(client.token.readProject('p')).rejects.toMatchObject({ code: 'unauthorized' });
  });

  for (const skew of [-2 * MINUTE, 2 * MINUTE]) {
    it(`T42 a clock that is ${skew / MINUTE} minutes off is accepted and not corrected`, async () => {
      const sandbox = await startTemporarySandbox();
      const { app, organization, installationId } = installApp(sandbox);
      const { client, corrections } = createRecordingClient(sandbox.url, app, () => Date.now() + skew);
      await client.organization(installationId, organization.id).readOrganization();
      expect(corrections).toEqual([]);
    });
  }

  for (const skew of [-HOUR, HOUR]) {
    it(`T42 a clock that is ${skew / MINUTE} minutes off is corrected once`, async () => {
      const sandbox = await startTemporarySandbox();
      const { app, organization, installationId } = installApp(sandbox);
      const { client, corrections, countTokenRequests } = createRecordingClient(
        sandbox.url,
        app,
        () => Date.now() + skew,
      );
      const ours = client.organization(installationId, organization.id);
      for (let round = 0; round < 3; round += 1) await ours.readOrganization();
      expect(corrections).toHaveLength(1);
      expect(Math.abs((corrections[0] ?? 0) + skew)).toBeLessThan(MINUTE);
      expect(countTokenRequests()).toBe(1);
    });
  }

  it('T43 50 concurrent first calls request one token', async () => {
    const sandbox = await startTemporarySandbox();
    const { app, organization, installationId } = installApp(sandbox);
    const { client, countTokenRequests } = createRecordingClient(sandbox.url, app, Date.now);
    const read = () => client.organization(installationId, organization.id).readOrganization();
    await Promise.all(Array.from({ length: 50 }, read));
    expect(countTokenRequests()).toBe(1);
  });

  it('T43 all clients of one installation share its token', async () => {
    const sandbox = await startTemporarySandbox();
    const { app, organization, installationId } = installApp(sandbox);
    const { client, countTokenRequests } = createRecordingClient(sandbox.url, app, Date.now);
    for (const each of [client.installation(installationId), client.installation(installationId)])
      expect(await collect(each.listProjects())).toEqual([]);
    await client.organization(installationId, organization.id).readOrganization();
    await client.organization(installationId, organization.id).readOrganization();
    expect(countTokenRequests()).toBe(1);
  });

  it('a token is renewed before it expires, and again after it has expired early', async () => {
    const sandbox = await startTemporarySandbox();
    const { app, organization, installationId } = installApp(sandbox);
    const { clock } = sandbox.registry.store;
    const start = clock.now();
    clock.freeze();
    let local = start;
    const { client, calls, countTokenRequests } = createRecordingClient(sandbox.url, app, () => local);
    const ours = client.organization(installationId, organization.id);
    await ours.readOrganization();
    local += 2 * HOUR - MINUTE;
    clock.setTime(local);
    await ours.readOrganization();
    expect([countTokenRequests(), calls.some(call => refused.test(call))]).toEqual([2, false]);
    clock.shiftTime(3 * HOUR);
    await ours.readOrganization();
    expect([countTokenRequests(), calls.some(call => refused.test(call))]).toEqual([3, true]);
  });

  it('a revoked token is not used again', async () => {
    const sandbox = await startTemporarySandbox();
    const { app, organization, installationId } = installApp(sandbox);
    const { client, calls, countTokenRequests } = createRecordingClient(sandbox.url, app, Date.now);
    const ours = client.organization(installationId, organization.id);
    await ours.readOrganization();
    await client.installation(installationId).revokeToken();
    await ours.readOrganization();
    expect(countTokenRequests()).toBe(2);
    expect(calls.some(call => refused.test(call))).toBe(false);
  });

  it('new permissions take effect with the next read of the installation', async () => {
    const sandbox = await startTemporarySandbox();
    const app = registerApp(sandbox, { permissions: { organization_info: 'VIEW' } });
    const organization = createOrganization(sandbox);
    const { installationId } = installApp(sandbox, { app, organization });
    const { client, countTokenRequests } = createRecordingClient(sandbox.url, app, Date.now);
    const ours = client.organization(installationId, organization.id);
    await expect(collect(ours.listMembers())).rejects.toMatchObject({ code: 'forbidden' });
    const permissions = { organization_info: 'VIEW', organization_members: 'VIEW' };
    sandbox.registry.apps.change(app.id, { permissions });
    sandbox.registry.installations.acceptPermissions(installationId);
    await client.app.readInstallation(installationId);
    const before = countTokenRequests();
    await expect(collect(ours.listMembers())).resolves.toHaveLength(1);
    expect(countTokenRequests()).toBe(before + 1);
  });

  it('a suspended installation gets no token, and gets a new one after it is unsuspended', async () => {
    const sandbox = await startTemporarySandbox();
    const { app, organization, installationId } = installApp(sandbox);
    const { client, countTokenRequests } = createRecordingClient(sandbox.url, app, Date.now);
    const ours = client.organization(installationId, organization.id);
    await ours.readOrganization();
    sandbox.registry.installations.suspend(installationId);
    await expect(ours.readOrganization()).rejects.toMatchObject({ code: 'forbidden' });
    sandbox.registry.installations.unsuspend(installationId);
    await ours.readOrganization();
    expect(countTokenRequests()).toBe(2);
  });

  it('T40 a call for an uninstalled installation fails with installation_gone, not with not_found', async () => {
    const sandbox = await startTemporarySandbox();
    const { app, organization, installationId } = installApp(sandbox);
    const { client } = createRecordingClient(sandbox.url, app, Date.now);
    sandbox.registry.installations.uninstall(installationId);
    const ours = client.organization(installationId, organization.id);
    await expect(ours.readOrganization()).rejects.toMatchObject({ code: 'installation_gone' });
  });
});
