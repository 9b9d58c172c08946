import { createPrivateKey } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createClient } from '../../../src/client.js';
import type { CallRecord } from '../../../src/registry/http/http-types.js';
import { collect } from '../../support/registry-client.js';
import {
  ALL_PERMISSIONS,
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

/** Installs an app on an organization, and creates its client. */
async function openInstalled(skewMs = 0, permissions: Readonly<Record<string, string>> = ALL_PERMISSIONS) {
  const sandbox = await startTemporarySandbox();
  const { app, organization, installationId } = installApp(sandbox, {
    app: registerApp(sandbox, { permissions }),
  });
  const recording = createRecordingClient(sandbox.url, app, () => Date.now() + skewMs);
  const ours = recording.client.organization(installationId, organization.id);
  const root = `/organizations/${organization.id}`;
  return { ...recording, sandbox, app, organization, installationId, ours, root };
}

const MINT = 'POST /app/installations/:installationId/accessTokens';

describe('the client against the sandbox', () => {
  it('a private key in PKCS#1 form signs valid JWTs', async () => {
    const sandbox = await startTemporarySandbox();
    const app = registerApp(sandbox);
    const pkcs1 = createPrivateKey(app.privateKey).export({ type: 'pkcs1', format: 'pem' }).toString();
    const { client } = createRecordingClient(sandbox.url, app, Date.now, pkcs1.replaceAll('\n', '\\n'));
    expect(await collect(client.token.listProjects())).toEqual([]);
  });

  it('a JWT signed with a key of another app is refused after at most two attempts, without a correction', async () => {
    const sandbox = await startTemporarySandbox();
    const { privateKey } = registerApp(sandbox);
    const app = registerApp(sandbox);
    const { client, calls, corrections } = createRecordingClient(sandbox.url, app, Date.now, privateKey);
    await expect(client.token.readProject('p')).rejects.toMatchObject({ code: 'unauthorized' });
    expect(calls.length).toBeLessThanOrEqual(2);
    expect(corrections).toEqual([]);
  });

  it.each([-HOUR, -2 * MINUTE, 0, 2 * MINUTE, HOUR])(
    'T42 a clock that is %i ms off is corrected once if needed, and the same call succeeds',
    async skew => {
      const { ours, calls, corrections, countTokenRequests } = await openInstalled(skew);
      for (let round = 0; round < 3; round += 1) await ours.readOrganization();
      const isOff = Math.abs(skew) === HOUR;
      expect(corrections).toHaveLength(isOff ? 1 : 0);
      if (isOff) expect(Math.abs((corrections[0] ?? 0) + skew)).toBeLessThan(MINUTE);
      expect(calls.slice(0, isOff ? 2 : 1)).toEqual(isOff ? [`${MINT} 401`, `${MINT} 200`] : [`${MINT} 200`]);
      expect(countTokenRequests()).toBe(1);
    },
  );

  it('T38 a token that is refused for 20 concurrent calls is renewed once', async () => {
    const { sandbox, ours, calls, countTokenRequests } = await openInstalled();
    await ours.readOrganization();
    sandbox.registry.tokens.expire(sandbox.registry.tokens.listNewest(1)[0]?.id ?? '');
    await Promise.all(Array.from({ length: 20 }, () => ours.readOrganization()));
    expect(countTokenRequests()).toBe(2);
    expect(calls.filter(line => line.endsWith(' 403')).length).toBeGreaterThan(1);
  });

  it('T38 a token is not requested a third time after two refusals with 401', async () => {
    const { sandbox, ours, root, calls } = await openInstalled();
    sandbox.registry.faults.add({ kind: 'status', path: root, options: { status: 401 } });
    await expect(ours.readOrganization()).rejects.toMatchObject({ code: 'unauthorized', status: 401 });
    const read = 'GET /organizations/:organizationId 401';
    expect(calls).toEqual([`${MINT} 200`, read, `${MINT} 200`, read]);
  });

  it('T39 a token that was just created is not renewed after a 403, because a permission is missing', async () => {
    const { ours, calls } = await openInstalled(0, { organization_info: 'VIEW' });
    const listMembers = () => collect(ours.listMembers());
    await expect(listMembers()).rejects.toMatchObject({ code: 'forbidden', status: 403 });
    const list = 'GET /organizations/:organizationId/members 403';
    expect(calls).toEqual([`${MINT} 200`, list]);
    await expect(listMembers()).rejects.toMatchObject({ code: 'forbidden' });
    expect(calls.slice(2)).toEqual([list, `${MINT} 200`, list]);
  });

  it('T69 no error contains the token', async () => {
    const { sandbox, client, ours, root, installationId } = await openInstalled();
    const { token } = await client.tokens.installation(installationId).get();
    const body = { statusCode: 400, message: `${token} Bearer ${token}` };
    sandbox.registry.faults.add({ kind: 'status', path: root, options: { status: 400, body } });
    const error: unknown = await ours.readOrganization().catch((caught: unknown) => caught);
    const printed = inspect(error, { depth: 10 });
    expect(printed).toContain('[masked]');
    expect(printed).not.toContain(token);
  });

  it('T43 50 concurrent first calls request one token', async () => {
    const { ours, calls, countTokenRequests } = await openInstalled();
    await Promise.all(Array.from({ length: 50 }, () => ours.readOrganization()));
    expect(calls).toHaveLength(51);
    expect(countTokenRequests()).toBe(1);
  });

  it('T43 all clients of one installation share its token', async () => {
    const { client, organization, installationId, countTokenRequests } = await openInstalled();
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
    const { client, ours, calls, installationId, countTokenRequests } = await openInstalled();
    await ours.readOrganization();
    await client.installation(installationId).revokeToken();
    await ours.readOrganization();
    expect(countTokenRequests()).toBe(2);
    expect(calls.some(call => refused.test(call))).toBe(false);
  });

  it('new permissions take effect with the next read of the installation', async () => {
    const opened = await openInstalled(0, { organization_info: 'VIEW' });
    const { sandbox, app, client, ours, installationId, countTokenRequests } = opened;
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
    const { sandbox, ours, installationId, countTokenRequests } = await openInstalled();
    await ours.readOrganization();
    sandbox.registry.installations.suspend(installationId);
    await expect(ours.readOrganization()).rejects.toMatchObject({ code: 'forbidden' });
    sandbox.registry.installations.unsuspend(installationId);
    await ours.readOrganization();
    expect(countTokenRequests()).toBe(2);
  });

  it('T40 a call for an uninstalled installation fails with installation_gone, not with not_found', async () => {
    const { sandbox, ours, installationId } = await openInstalled();
    sandbox.registry.installations.uninstall(installationId);
    await expect(ours.readOrganization()).rejects.toMatchObject({ code: 'installation_gone' });
  });
});
