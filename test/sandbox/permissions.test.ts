import { describe, expect, test } from 'vitest';
import {
  ALL_PERMISSIONS,
  type Answer,
  callSandbox,
  createOrganization,
  installApp,
  issueCredit,
  mintToken,
  registerApp,
  startSandboxForFile,
  startTemporarySandbox,
} from '../support/sandbox.js';

const retirementData = { reason: 'Other', beneficiaryName: 'Ada' };

const sandbox = await startSandboxForFile();
const installed = installApp(sandbox);
const { organization: home, token: ownToken } = installed;
const creditId = issueCredit(sandbox, home.id);
sandbox.registry.credits.issue({ organizationId: home.id, creditId, amount: 100 });
await finishReservation(await reserve(ownToken));
const retirementId = (await callOwn('GET', 'retirements')).body.retirements[0].id;
const retireOneTonne = { creditId, amount: 1, retirementData };
const requestId = (await callOwn('POST', 'inventory/requests/retire', retireOneTonne)).body.id;

async function callOwn(method: string, path: string, body?: unknown): Promise<Answer> {
  return callSandbox(sandbox, `${method} /organizations/${home.id}/${path}`, { token: ownToken, body });
}

async function reserve(token: string): Promise<string> {
  const path = `/organizations/${installed.organization.id}/warehouse/inventory/reservations`;
  const { body } = await callSandbox(sandbox, `POST ${path}`, { token, body: { creditId, amount: 1 } });
  return body.id;
}

async function finishReservation(reservationId: string): Promise<Answer> {
  const path = `/organizations/${installed.organization.id}/warehouse/inventory/reservations/${reservationId}`;
  return callSandbox(sandbox, `POST ${path}/retire`, { token: installed.token, body: { retirementData } });
}

/** Mints a token of the same installation with other permissions. */
function mintTokenWith(permissions: object): string {
  const organizationInfo = 'organization_info' in permissions;
  sandbox.registry.apps.change(installed.app.id, { permissions, organizationInfo });
  sandbox.registry.installations.acceptPermissions(installed.installationId);
  return mintToken(sandbox, installed.app, installed.installationId);
}

/** A call of an endpoint, and the permission that it needs. */
interface EndpointCase {
  readonly call: string;
  readonly permission: string;
  readonly body?: () => unknown;
}

const TABLE: readonly EndpointCase[] = [
  { call: 'GET /organizations/<id>/warehouse/inventory', permission: 'organization_warehouse:read' },
  {
    call: 'GET /organizations/<id>/warehouse/inventory/reservations',
    permission: 'organization_warehouse:read',
  },
  {
    call: 'POST /organizations/<id>/warehouse/inventory/reservations',
    permission: 'organization_warehouse:write',
    body: () => ({ creditId, amount: 1 }),
  },
  {
    call: 'GET /organizations/<id>/warehouse/inventory/reservations/<reservation_id>',
    permission: 'organization_warehouse:read',
  },
  {
    call: 'DELETE /organizations/<id>/warehouse/inventory/reservations/<reservation_id>',
    permission: 'organization_warehouse:write',
  },
  {
    call: 'POST /organizations/<id>/warehouse/inventory/reservations/<reservation_id>/retire',
    permission: 'organization_warehouse:write',
    body: () => ({ retirementData }),
  },
  { call: 'GET /organizations/<id>', permission: 'organization_info:read' },
  { call: 'GET /organizations/<id>/addresses', permission: 'organization_info:read' },
  { call: 'GET /organizations/<id>/members', permission: 'organization_members:read' },
  { call: 'GET /organizations/<id>/retirements', permission: 'organization_info:read' },
  { call: 'GET /organizations/<id>/retirements/<retirement_id>', permission: 'organization_info:read' },
  { call: 'GET /organizations/<id>/retirements/<retirement_id>/pdf', permission: 'organization_info:read' },
  { call: 'GET /organizations/<id>/inventory', permission: 'organization_inventory:read' },
  { call: 'GET /organizations/<id>/inventory/requests', permission: 'organization_inventory:read' },
  {
    call: 'GET /organizations/<id>/inventory/requests/<request_id>',
    permission: 'organization_inventory:read',
  },
  {
    call: 'POST /organizations/<id>/inventory/requests/retire',
    permission: 'organization_inventory:read_request',
    body: () => ({ creditId, amount: 1, retirementData }),
  },
];

const ROWS = TABLE.map(row => [row.call, row.permission, row] as const);
const CALLS = TABLE.map(row => [row.call, row] as const);

/** Makes a call. Its placeholders are replaced by the ids of the test's objects. */
async function callEndpoint(
  { call, body }: EndpointCase,
  token: string,
  reservationId: string,
): Promise<Answer> {
  const real = call
    .replace('<id>', installed.organization.id)
    .replace('<reservation_id>', reservationId)
    .replace('<retirement_id>', retirementId)
    .replace('<request_id>', requestId);
  const accept = call.endsWith('/pdf') ? 'application/octet-stream' : 'application/json';
  return callSandbox(sandbox, real, { token, headers: { accept }, ...(body && { body: body() }) });
}

/** Returns the least permissions that allow a call, and a set of all others, which does not. */
function getPermissionSets(permission: string): { least: object; without: object } {
  const [name = '', word = ''] = permission.split(':');
  const level = { read: 'VIEW', write: 'WRITE', read_request: 'REQUEST' }[word];
  const others = Object.fromEntries(Object.entries(ALL_PERMISSIONS).filter(([other]) => other !== name));
  return {
    least: { [name]: level },
    without: level === 'VIEW' ? others : { ...others, [name]: 'VIEW' },
  };
}

describe('an endpoint is usable only if the token holds its permission', () => {
  test.each(ROWS)('%s needs %s', async (_call, _permission, row) => {
    const { least, without } = getPermissionSets(row.permission);
    const reservationId = await reserve(mintTokenWith(ALL_PERMISSIONS));

    const refused = await callEndpoint(row, mintTokenWith(without), reservationId);
    expect(refused.status).toBe(403);
    expect(refused.body.message).toBe(`The token has no permission ${row.permission}`);

    const allowed = await callEndpoint(row, mintTokenWith(least), reservationId);
    expect(allowed.status).toBe(200);
  });

  test.each(CALLS)('%s refuses an app access token', async (_call, row) => {
    const refused = await callEndpoint(row, mintToken(sandbox, installed.app), crypto.randomUUID());
    expect(refused).toMatchObject({ status: 403, body: { error: 'Forbidden' } });
  });

  test.each(CALLS)("%s refuses a token of another organization's installation", async (_call, row) => {
    const { token } = installApp(sandbox, { app: installed.app });
    const refused = await callEndpoint(row, token, crypto.randomUUID());
    expect(refused).toMatchObject({ status: 403, body: { error: 'Forbidden' } });
  });
});

const OPEN_TO_ANY_TOKEN = [
  'GET /organizations/<id>/friendbot',
  'GET /projects?limit=1&page=0',
  'GET /projects/find?creditId=<credit_id>',
  'GET /projects/<project_id>',
  'GET /retirements?id=<retirement_id>',
  'GET /retirements/<retirement_id>/pdf',
] as const;

test.each(OPEN_TO_ANY_TOKEN)('%s accepts any access token regardless of permissions', async call => {
  const { projects } = sandbox.registry;
  const real = call
    .replace('<id>', installed.organization.id)
    .replace('<credit_id>', creditId)
    .replace('<project_id>', projects.findPublicByCredit({ creditId }).id)
    .replace('<retirement_id>', retirementId);
  const headers = { accept: call.endsWith('/pdf') ? 'application/octet-stream' : 'application/json' };
  for (const token of [mintTokenWith({}), mintToken(sandbox, installed.app)]) {
    expect((await callSandbox(sandbox, real, { token, headers })).status).toBe(200);
  }
});

test('an installation access token has exactly the permissions that were granted to the app', async () => {
  const { app, organization, installationId } = installApp(sandbox);
  const { apps, installations, tokens } = sandbox.registry;
  const read = () => tokens.mint(app.id, installations.getActive(app.id, installationId)).permissions;
  expect(read()).toEqual(ALL_PERMISSIONS);

  apps.change(app.id, { permissions: { organization_inventory: 'VIEW' } });
  expect(read()).toEqual(ALL_PERMISSIONS);
  const before = mintToken(sandbox, app, installationId);

  installations.acceptPermissions(installationId);
  expect(read()).toEqual({ organization_info: 'VIEW', organization_inventory: 'VIEW' });
  const lost = await callSandbox(sandbox, `GET /organizations/${organization.id}/members`, { token: before });
  expect(lost.status).toBe(403);
  const kept = await callSandbox(sandbox, `GET /organizations/${organization.id}/inventory`, {
    token: before,
  });
  expect(kept.status).toBe(200);
});

test('a token does not gain permissions that its installation is granted later', async () => {
  const { app, organization, installationId } = installApp(sandbox);
  const { apps, installations } = sandbox.registry;
  apps.change(app.id, { permissions: { organization_info: 'VIEW' } });
  installations.acceptPermissions(installationId);
  const token = mintToken(sandbox, app, installationId);
  apps.change(app.id, { permissions: ALL_PERMISSIONS });
  installations.acceptPermissions(installationId);
  const members = `GET /organizations/${organization.id}/members`;
  expect((await callSandbox(sandbox, members, { token })).status).toBe(403);
  expect(
    (await callSandbox(sandbox, members, { token: mintToken(sandbox, app, installationId) })).status,
  ).toBe(200);
});

test('organization_info is part of every installation', () => {
  const { apps } = sandbox.registry;
  const { permissions } = apps.register({
    name: 'asks for the members only',
    permissions: ['organization_members:read'],
  });
  expect(permissions).toEqual({ organization_info: 'VIEW', organization_members: 'VIEW' });
});

test('an app without organization_info is refused the five calls that need it until it requests it', async () => {
  const own = await startTemporarySandbox();
  const { registry } = own;
  const app = registerApp(own, { permissions: { organization_warehouse: 'VIEW' }, organizationInfo: false });
  expect(registry.apps.get(app.id).permissions).toEqual({ organization_warehouse: 'VIEW' });
  const organization = createOrganization(own);
  const { id } = registry.installations.install(app.id, organization.id);
  const token = mintToken(own, app, id);
  const root = `GET /organizations/${organization.id}`;
  const calls = ['', '/addresses', '/retirements', '/retirements/none', '/retirements/none/pdf'];
  for (const call of calls) {
    const headers = { accept: call.endsWith('/pdf') ? 'application/octet-stream' : 'application/json' };
    expect((await callSandbox(own, `${root}${call}`, { token, headers })).status, call).toBe(403);
  }
  expect((await callSandbox(own, `${root}/warehouse/inventory`, { token })).status).toBe(200);
  registry.apps.change(app.id, { permissions: { organization_warehouse: 'WRITE' } });
  expect(registry.apps.get(app.id).permissions).toEqual({ organization_warehouse: 'WRITE' });
  registry.apps.change(app.id, { organizationInfo: true });
  expect(registry.apps.get(app.id).permissions).toEqual({
    organization_info: 'VIEW',
    organization_warehouse: 'WRITE',
  });
});
