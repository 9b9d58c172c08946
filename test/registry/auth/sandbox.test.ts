import { createPrivateKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../../src/client.js';
import type { CallRecord } from '../../../src/registry/http/http-types.js';
import {
  createOrganization,
  installApp,
  registerApp,
  type TestApp,
  temporarySandbox,
} from '../../support/sandbox.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const refused = / 40[13]$/;

/** Creates a client with its own clock, and records every call that it makes. */
function createClients(url: string, app: TestApp, now: () => number, privateKey: string = app.privateKey) {
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
  const mints = () => calls.filter(call => call.endsWith('/accessTokens 200')).length;
  return { client, calls, corrections, mints };
}

describe('against the sandbox', () => {
  it('a key in PKCS#1 form signs as well', async () => {
    const sandbox = await temporarySandbox();
    const app = registerApp(sandbox);
    const pkcs1 = createPrivateKey(app.privateKey).export({ type: 'pkcs1', format: 'pem' }).toString();
    const { client } = createClients(sandbox.url, app, Date.now, pkcs1.replaceAll('\n', '\\n'));
    for await (const { items } of client.token.listProjects()) expect(items).toEqual([]);
  });

  it('a key of nobody is unauthorized', async () => {
    const sandbox = await temporarySandbox();
    const { client } = createClients(
      sandbox.url,
      registerApp(sandbox),
      Date.now,
      registerApp(sandbox).privateKey,
    );
    await expect(client.token.readProject('p')).rejects.toMatchObject({ code: 'unauthorized' });
  });

  for (const skew of [-2 * MINUTE, 2 * MINUTE]) {
    it(`T42 a clock ${skew / MINUTE} minutes off works and is left alone`, async () => {
      const sandbox = await temporarySandbox();
      const { app, organization, installationId } = installApp(sandbox);
      const { client, corrections } = createClients(sandbox.url, app, () => Date.now() + skew);
      await client.organization(installationId, organization.id).readOrganization();
      expect(corrections).toEqual([]);
    });
  }

  for (const skew of [-HOUR, HOUR]) {
    it(`T42 a clock ${skew / MINUTE} minutes off is corrected once`, async () => {
      const sandbox = await temporarySandbox();
      const { app, organization, installationId } = installApp(sandbox);
      const {
        client,
        corrections,
        mints: countTokenRequests,
      } = createClients(sandbox.url, app, () => Date.now() + skew);
      const ours = client.organization(installationId, organization.id);
      for (let round = 0; round < 3; round += 1) await ours.readOrganization();
      expect(corrections).toHaveLength(1);
      expect(Math.abs((corrections[0] ?? 0) + skew)).toBeLessThan(MINUTE);
      expect(countTokenRequests()).toBe(1);
    });
  }

  it('T43 50 cold calls cost one token', async () => {
    const sandbox = await temporarySandbox();
    const { app, organization, installationId } = installApp(sandbox);
    const { client, mints } = createClients(sandbox.url, app, Date.now);
    const read = () => client.organization(installationId, organization.id).readOrganization();
    await Promise.all(Array.from({ length: 50 }, read));
    expect(mints()).toBe(1);
  });

  it('a token is retired before it runs out, and renewed when it ran out all the same', async () => {
    const sandbox = await temporarySandbox();
    const { app, organization, installationId } = installApp(sandbox);
    const { clock } = sandbox.registry.store;
    const start = clock.now();
    clock.freeze();
    let local = start;
    const { client, calls, mints } = createClients(sandbox.url, app, () => local);
    const ours = client.organization(installationId, organization.id);
    await ours.readOrganization();
    local += 2 * HOUR - MINUTE;
    clock.setTime(local);
    await ours.readOrganization();
    expect([mints(), calls.some(call => refused.test(call))]).toEqual([2, false]);
    clock.shiftTime(3 * HOUR);
    await ours.readOrganization();
    expect([mints(), calls.some(call => refused.test(call))]).toEqual([3, true]);
  });

  it('a token that was revoked is not used again', async () => {
    const sandbox = await temporarySandbox();
    const { app, organization, installationId } = installApp(sandbox);
    const { client, calls, mints } = createClients(sandbox.url, app, Date.now);
    const ours = client.organization(installationId, organization.id);
    await ours.readOrganization();
    await client.installation(installationId).revokeToken();
    await ours.readOrganization();
    expect(mints()).toBe(2);
    expect(calls.some(call => refused.test(call))).toBe(false);
  });

  it('new permissions are used from the next read of the installation on', async () => {
    const sandbox = await temporarySandbox();
    const app = registerApp(sandbox, { permissions: { organization_info: 'VIEW' } });
    const organization = createOrganization(sandbox);
    const { installationId } = installApp(sandbox, { app, organization });
    const { client, mints } = createClients(sandbox.url, app, Date.now);
    const ours = client.organization(installationId, organization.id);
    await expect(ours.readMembers()).rejects.toMatchObject({ code: 'forbidden' });
    const permissions = { organization_info: 'VIEW', organization_members: 'VIEW' };
    sandbox.registry.apps.change(app.id, { permissions });
    sandbox.registry.installations.acceptPermissions(installationId);
    await client.app.readInstallation(installationId);
    const before = mints();
    await expect(ours.readMembers()).resolves.toHaveLength(1);
    expect(mints()).toBe(before + 1);
  });

  it('a suspended installation gets no token, and one that is back gets a new one', async () => {
    const sandbox = await temporarySandbox();
    const { app, organization, installationId } = installApp(sandbox);
    const { client, mints } = createClients(sandbox.url, app, Date.now);
    const ours = client.organization(installationId, organization.id);
    await ours.readOrganization();
    sandbox.registry.installations.suspend(installationId);
    await expect(ours.readOrganization()).rejects.toMatchObject({ code: 'forbidden' });
    sandbox.registry.installations.unsuspend(installationId);
    await ours.readOrganization();
    expect(mints()).toBe(2);
  });

  it('T40 an uninstalled one is gone, which says nothing of what was asked for', async () => {
    const sandbox = await temporarySandbox();
    const { app, organization, installationId } = installApp(sandbox);
    const { client } = createClients(sandbox.url, app, Date.now);
    sandbox.registry.installations.uninstall(installationId);
    const ours = client.organization(installationId, organization.id);
    await expect(ours.readOrganization()).rejects.toMatchObject({ code: 'installation_gone' });
  });
});
