import { describe, expect, test } from 'vitest';
import { ROUTES } from '../../src/sandbox/http/registry-routes.js';
import {
  ALL_PERMISSIONS,
  callSandbox,
  createCaller,
  installApp,
  issueCredit,
  mintToken,
  retireFromWarehouse,
  signAppJwt,
  startSandboxForFile,
} from '../support/sandbox.js';

const sandbox = await startSandboxForFile({ seed: 1 });
const installed = installApp(sandbox);
const { app, organization: home, installationId } = installed;
const call = createCaller(sandbox, installed.token);
const root = `/organizations/${home.id}`;
const creditId = issueCredit(sandbox, home.id, { amount: 100.5 });
sandbox.registry.credits.issue({ organizationId: home.id, creditId, amount: 50 });
retireFromWarehouse(sandbox, { organizationId: home.id, appId: app.id, creditId }, 1);
const [{ id: retirementId, project }] = (await call(`GET ${root}/retirements`)).body.retirements;
const retirementData = { reason: 'Voluntary purposes', beneficiaryName: 'Ada', comment: 'for 2026' };
const retireOneTonne = { creditId, amount: 1, retirementData };
const requestId = (await call(`POST ${root}/inventory/requests/retire`, retireOneTonne)).body.id;
/** Another app on the same organization, whose permissions the tests change. */
const limited = installApp(sandbox, { organization: home });

const TEXT = expect.any(String);
const INSTANT = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const ADDRESS = expect.stringMatching(/^0x[0-9a-f]{40}$/);
const DATES = { createdAt: INSTANT, updatedAt: INSTANT };
const PAGINATION = {
  total: expect.any(Number),
  currentPage: 0,
  pageCount: expect.any(Number),
  nextPage: null,
  prevPage: null,
};
const TOKEN = {
  id: TEXT,
  ...DATES,
  token: expect.stringMatching(/^crs_[0-9a-f]{48}$/),
  expiresAt: INSTANT,
  isActive: true,
  appId: app.id,
};
const ORGANIZATION = {
  id: home.id,
  fullName: home.fullName,
  logo: null,
  url: TEXT,
  ...DATES,
  countryCode: 'IS',
  city: '',
  zip: '',
  physicalAddress: '',
  registrationNumber: '',
  website: '',
  organizationIndustries: null,
  type: 'marketParticipant',
  isPublic: true,
};
/** The registry shows no state of an installation. */
const INSTALLATION = {
  id: installationId,
  appId: app.id,
  appNameId: TEXT,
  permissions: ALL_PERMISSIONS,
  accessTokensUrl: TEXT,
  ...DATES,
  organization: ORGANIZATION,
};
const PROJECT_REFERENCE = { id: project.id, fullName: TEXT, url: TEXT, publicUrl: TEXT, num: TEXT };
const CREDIT_TOKEN = {
  tokenId: TEXT,
  tokenAddress: ADDRESS,
  serialization: expect.stringMatching(/^ICR-[A-Z]{3}-\d+-\d+-\d+-[RA]-[01]-\d{4}$/),
  type: 'exPost',
};
const CREDIT = {
  ...CREDIT_TOKEN,
  id: expect.stringMatching(/^exPost-\d+-0x[0-9a-f]{40}$/),
  organizationId: home.id,
  project: PROJECT_REFERENCE,
  vintage: '2021',
  supply: 150.5,
  unit: 'tonne',
  amount: expect.any(Number),
};
const RESERVATION = {
  ...CREDIT_TOKEN,
  ...DATES,
  id: TEXT,
  creditId,
  amount: 1,
  state: 'outstanding',
  isComplete: false,
  reservedToDate: INSTANT,
  project: { id: project.id, fullName: TEXT },
  reserver: { id: app.id, name: app.name },
};
const REQUEST = {
  ...CREDIT_TOKEN,
  ...DATES,
  id: TEXT,
  action: 'retire',
  creditId,
  vintage: '2021',
  amount: 1,
  state: 'Pending',
  fromOrganizationId: home.id,
  retirementReason: 'Voluntary purposes',
  beneficiaryName: 'Ada',
  retirementComment: 'for 2026',
  project: PROJECT_REFERENCE,
};
const RETIREMENT = {
  id: retirementId,
  createdAt: INSTANT,
  isClaimed: true,
  amount: 1,
  serialization: CREDIT_TOKEN.serialization,
  vintage: '2021',
  project: PROJECT_REFERENCE,
  reason: 'for good',
  beneficiary: 'Ada',
  comment: '',
  organizationId: home.id,
  organizationOwner: { id: home.id, fullName: home.fullName, logo: null, publicUrl: TEXT },
};
const PROJECT = expect.objectContaining({ id: project.id, registry: 'ICR', status: 'validated', num: TEXT });
const PDF = expect.stringMatching(/^%PDF-1\.\d[\s\S]*%%EOF\s*$/);
const SUMMARY = expect.objectContaining({ project: PROJECT, summary: expect.any(Object) });
const FRIENDBOT = {
  credits: [expect.objectContaining({ amount: 100, type: 'exPost' })],
  organizationId: home.id,
};
const NEW_OWNER = {
  user: { email: 'New.Owner@people.example', fullName: 'New Owner', profilePicture: '' },
  organization: { fullName: 'New Owner ehf.', type: 'other', countryCode: 'IS' },
};
const NEW_ORGANIZATION = { ...ORGANIZATION, ...NEW_OWNER.organization, id: TEXT };
const CREATED = {
  user: { ...NEW_OWNER.user, id: TEXT, email: 'new.owner@people.example', url: TEXT },
  organization: NEW_ORGANIZATION,
  installation: { ...INSTALLATION, id: TEXT, organization: NEW_ORGANIZATION },
};

const [QUEUE, REQUESTS] = [
  '/organizations/<id>/warehouse/inventory/reservations',
  '/organizations/<id>/inventory/requests',
];

/** An operation of the registry: its call, the credential that it needs, and its exact answer. */
type Operation = readonly [call: string, needs: string, answer: unknown, body?: object];

const DESCRIBED: readonly Operation[] = [
  ['POST /app/accessTokens', 'app JWT', { ...TOKEN, permissions: {} }],
  [
    'POST /app/installations/<installation_id>/accessTokens',
    'app JWT',
    { ...TOKEN, permissions: ALL_PERMISSIONS, installationId, organizationId: home.id },
    {},
  ],
  ['POST /app/create/user/organization', 'app JWT', CREATED, NEW_OWNER],
  [
    'GET /app/installations?limit=1000&page=0',
    'app JWT',
    { pagination: PAGINATION, installations: expect.arrayContaining([INSTALLATION]) },
  ],
  ['GET /app/installations/<installation_id>', 'app JWT', INSTALLATION],
  ['GET /app/organizations/<id>/installation', 'app JWT', INSTALLATION],
  ['DELETE /app/installations/token', 'any token', {}],
  ['GET /organizations/<id>', 'organization_info:read', ORGANIZATION],
  [
    'GET /organizations/<id>/addresses',
    'organization_info:read',
    { addresses: [{ address: ADDRESS, name: 'Default', isDefault: true }], organizationId: home.id },
  ],
  [
    'GET /organizations/<id>/members',
    'organization_members:read',
    {
      members: [{ id: TEXT, fullName: 'Ada Admin', email: expect.stringContaining('@') }],
      organizationId: home.id,
    },
  ],
  [
    'GET /organizations/<id>/retirements',
    'organization_info:read',
    { pagination: PAGINATION, retirements: expect.arrayContaining([RETIREMENT]) },
  ],
  ['GET /organizations/<id>/retirements/<retirement_id>', 'organization_info:read', RETIREMENT],
  ['GET /organizations/<id>/retirements/<retirement_id>/pdf', 'organization_info:read', PDF],
  ['GET /organizations/<id>/friendbot', 'organization token', FRIENDBOT],
  [
    'GET /organizations/<id>/warehouse/inventory',
    'organization_warehouse:read',
    { credits: [{ ...CREDIT, inventoryId: TEXT }], organizationId: home.id },
  ],
  [
    'GET /organizations/<id>/inventory',
    'organization_inventory:read',
    { credits: expect.arrayContaining([CREDIT]), organizationId: home.id },
  ],
  [
    `GET ${REQUESTS}?limit=1000&page=0`,
    'organization_inventory:read',
    { pagination: PAGINATION, creditRequests: expect.arrayContaining([REQUEST]) },
  ],
  [`GET ${REQUESTS}/<request_id>`, 'organization_inventory:read', { ...REQUEST, id: requestId }],
  [`POST ${REQUESTS}/retire`, 'organization_inventory:read_request', REQUEST, retireOneTonne],
  [
    `GET ${QUEUE}?limit=1000&page=0`,
    'organization_warehouse:read',
    { pagination: PAGINATION, reservations: expect.arrayContaining([RESERVATION]) },
  ],
  [`POST ${QUEUE}`, 'organization_warehouse:write', RESERVATION, { creditId, amount: 1 }],
  [`GET ${QUEUE}/<reservation_id>`, 'organization_warehouse:read', RESERVATION],
  [
    `DELETE ${QUEUE}/<reservation_id>`,
    'organization_warehouse:write',
    { ...RESERVATION, state: 'cancelled' },
  ],
  [
    `POST ${QUEUE}/<reservation_id>/retire`,
    'organization_warehouse:write',
    expect.objectContaining({ ...RESERVATION, state: 'finished', isComplete: true }),
    { retirementData },
  ],
  [
    'GET /projects?limit=1000&page=0',
    'any token',
    { pagination: PAGINATION, projects: expect.arrayContaining([PROJECT]) },
  ],
  ['GET /projects/find?creditId=<credit_id>', 'any token', PROJECT],
  ['GET /projects/find/project?creditId=<credit_id>', 'any token', PROJECT],
  ['GET /projects/<project_id>', 'any token', PROJECT],
  ['GET /retirements?id=<retirement_id>', 'any token', RETIREMENT],
  [
    'GET /retirements/list?first=1',
    'any token',
    { retirements: [expect.objectContaining({ organizationId: home.id })] },
  ],
  ['GET /carbonCredits/projects/<project_id>', 'any token', SUMMARY],
  ['GET /retirements/<retirement_id>/pdf', 'any token', PDF],
];

const OPERATIONS = DESCRIBED.map(
  ([template, needs, answer, body]) => [template, needs, answer, body] as const,
);

/** Replaces the placeholders of a call by the ids of the test's objects. Reserves a tonne if the call needs a reservation. */
async function fillIn(template: string, token: string): Promise<string> {
  const values: Readonly<Record<string, string>> = {
    '<id>': home.id,
    '<installation_id>': installationId,
    '<retirement_id>': retirementId,
    '<request_id>': requestId,
    '<credit_id>': creditId,
    '<project_id>': project.id,
    '<reservation_id>': template.includes('<reservation_id>') ? await reserve(token) : '',
  };
  return template.replaceAll(/<\w+>/g, name => values[name] ?? name);
}

async function reserve(token: string): Promise<string> {
  const body = { creditId, amount: 1 };
  return (await callSandbox(sandbox, `POST ${root}/warehouse/inventory/reservations`, { token, body })).body
    .id;
}

/** Mints a token of the limited app's installation with these permissions. */
function mintTokenWith(permissions: object): string {
  const organizationInfo = 'organization_info' in permissions;
  sandbox.registry.apps.change(limited.app.id, { permissions, organizationInfo });
  sandbox.registry.installations.acceptPermissions(limited.installationId);
  return mintToken(sandbox, limited.app, limited.installationId);
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

const NEED_PERMISSION = OPERATIONS.filter(([, needs]) => needs.includes(':'));
const NEED_JWT = OPERATIONS.filter(([, needs]) => needs === 'app JWT');
const NEED_ANY_TOKEN = OPERATIONS.filter(([, needs]) => !needs.includes(':') && needs !== 'app JWT');

describe('each operation of the registry', () => {
  test('is in the table of this test', () => {
    const withoutIds = (route: string) => route.replace(/\?.*|\/retire$/, '').replaceAll(/[:<]\w+>?/g, '<>');
    const routes = ROUTES.map(([route]) => withoutIds(route.replace('/:action', '')));
    expect(OPERATIONS.map(([template]) => withoutIds(template)).toSorted()).toEqual(routes.toSorted());
  });

  test.each(OPERATIONS)(
    '%s needs %s, and answers exactly as described',
    async (template, needs, answer, body) => {
      const token = needs === 'app JWT' ? signAppJwt(sandbox, app) : mintToken(sandbox, app, installationId);
      await reserve(installed.token);
      const received = await callSandbox(sandbox, await fillIn(template, token), { token, body });
      expect(received.body).toEqual(answer);
      expect(received.status).toBe(200);
    },
  );

  test.each(OPERATIONS)('%s answers 401 without a token', async template => {
    const filled = await fillIn(template, installed.token);
    const unauthorized = { statusCode: 401, message: TEXT, error: 'Unauthorized' };
    expect(await callSandbox(sandbox, filled)).toMatchObject({ status: 401, body: unauthorized });
  });

  test.each(NEED_JWT)('%s refuses an access token', async template => {
    expect((await call(await fillIn(template, installed.token))).status).toBe(401);
  });

  test.each(NEED_ANY_TOKEN)(
    '%s accepts an app access token, and a token without permissions',
    async template => {
      for (const token of [mintTokenWith({}), mintToken(sandbox, app)])
        expect((await callSandbox(sandbox, await fillIn(template, token), { token })).status).toBe(200);
    },
  );

  test.each(NEED_PERMISSION)('%s is usable only with %s', async (template, permission, _answer, body) => {
    const { least, without } = getPermissionSets(permission);
    const filled = await fillIn(template, mintTokenWith(ALL_PERMISSIONS));
    const refused = await callSandbox(sandbox, filled, { token: mintTokenWith(without), body });
    const message = `The token has no permission ${permission}`;
    expect(refused).toMatchObject({ status: 403, body: { message, error: 'Forbidden' } });
    const allowed = await callSandbox(sandbox, filled, { token: mintTokenWith(least), body });
    expect(allowed.status).toBe(200);
  });

  test.each(NEED_PERMISSION)('%s refuses a token of the app or of another organization', async template => {
    const filled = await fillIn(template, installed.token);
    for (const token of [mintToken(sandbox, app), installApp(sandbox, { app }).token]) {
      const refused = await callSandbox(sandbox, filled, { token });
      expect(refused).toMatchObject({ status: 403, body: { error: 'Forbidden' } });
    }
  });
});
