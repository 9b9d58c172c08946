import nock from 'nock';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { useNockInThisFile } from '../support/nock.js';
import { createTokenClient } from '../../src/registry/token-client.js';
import {
  collect,
  collectBytes,
  createAppTokenSource,
  createTestClients,
  createTestHttpClient,
  type TestClients,
} from '../support/registry-client.js';

const BASE = 'https://registry.test/partner/api';
const token = { token: 'crs_1', expiresAt: '2026-01-01T02:00:00Z', permissions: {} };
const organization = { id: 'org-1', fullName: 'Fjord Marine' };
const installation = { id: 'inst-1', appId: 'app-1', permissions: {}, organization };
const reservation = { id: 'res-1', creditId: 'exPost-1-0xabc', amount: 2.5 };
const request = { id: 'req-1', creditId: 'exPost-1-0xabc', amount: 2.5 };
const retirement = { id: 'ret-1', amount: 1 };
const project = { id: 'proj-1', fullName: 'Wind' };
const retirementData = { reason: 'Voluntary', beneficiaryName: 'Ása', comment: 'thanks' };

const jwt = 'Bearer jwt-text';
const installed = 'Bearer crs_installation';
const appToken = 'Bearer crs_app';
const list = '?limit=100&page=0';
const empty = { pagination: { total: 0, currentPage: 0, pageCount: 0, nextPage: null } };

/** A request, its credential, the answer to it, the call of the client that sends it, and its body. */
type Operation = readonly [
  request: string,
  authorization: string,
  answer: unknown,
  call: (clients: TestClients) => Promise<unknown>,
  body?: string,
];

const DESCRIBED: readonly Operation[] = [
  ['POST /app/accessTokens', jwt, token, ({ app }) => app.createAppToken()],
  [
    'POST /app/installations/inst-1/accessTokens',
    jwt,
    token,
    ({ app }) => app.createInstallationToken('inst-1'),
  ],
  [
    'POST /app/create/user/organization',
    jwt,
    { user: { id: 'u-1' }, organization, installation },
    ({ app }) =>
      app.createUserAndOrganization({
        user: { email: 'a@b.is', fullName: 'Ása', profilePicture: '' },
        organization: { fullName: 'Fjord', type: 'other', countryCode: 'IS' },
      }),
    '{"user":{"email":"a@b.is","fullName":"Ása","profilePicture":""},"organization":{"fullName":"Fjord","type":"other","countryCode":"IS"}}',
  ],
  [
    `GET /app/installations${list}`,
    jwt,
    { ...empty, installations: [] },
    ({ app }) => collect(app.listInstallations()),
  ],
  ['GET /app/installations/inst-1', jwt, installation, ({ app }) => app.readInstallation('inst-1')],
  [
    'GET /app/organizations/org-1/installation',
    jwt,
    installation,
    ({ app }) => app.readInstallationOf('org-1'),
  ],
  ['DELETE /app/installations/token', appToken, {}, clients => clients.token.revokeToken()],
  [
    'GET /organizations/org-1/warehouse/inventory',
    installed,
    { credits: [], organizationId: 'org-1' },
    clients => collect(clients.organization.listWarehouse()),
  ],
  [
    `GET /organizations/org-1/warehouse/inventory/reservations${list}`,
    installed,
    { ...empty, reservations: [] },
    clients => collect(clients.organization.listReservations()),
  ],
  [
    'POST /organizations/org-1/warehouse/inventory/reservations',
    installed,
    reservation,
    clients => clients.organization.reserve({ creditId: 'exPost-1-0xabc', amount: '2.5' }),
    '{"amount":2.5,"creditId":"exPost-1-0xabc"}',
  ],
  [
    'GET /organizations/org-1/warehouse/inventory/reservations/res-1',
    installed,
    reservation,
    clients => clients.organization.readReservation('res-1'),
  ],
  [
    'DELETE /organizations/org-1/warehouse/inventory/reservations/res-1',
    installed,
    reservation,
    clients => clients.organization.cancelReservation('res-1'),
  ],
  [
    'POST /organizations/org-1/warehouse/inventory/reservations/res-1/transfer_retire',
    installed,
    reservation,
    clients =>
      clients.organization.finishReservation('res-1', 'transfer_retire', {
        receiverId: 'org-2',
        receiverAddress: '0xabc',
        transferComment: 'sold',
        retirementData,
      }),
    '{"receiverId":"org-2","receiverAddress":"0xabc","transferComment":"sold","retirementData":{"reason":"Voluntary","beneficiaryName":"Ása","comment":"thanks"}}',
  ],
  ['GET /organizations/org-1', installed, organization, clients => clients.organization.readOrganization()],
  [
    'GET /organizations/org-1/addresses',
    installed,
    { addresses: [] },
    clients => collect(clients.organization.listAddresses()),
  ],
  [
    'GET /organizations/org-1/members',
    installed,
    { members: [] },
    clients => collect(clients.organization.listMembers()),
  ],
  [
    `GET /organizations/org-1/retirements${list}`,
    installed,
    { ...empty, retirements: [] },
    clients => collect(clients.organization.listRetirements()),
  ],
  [
    'GET /organizations/org-1/retirements/ret-1',
    installed,
    retirement,
    clients => clients.organization.readRetirement('ret-1'),
  ],
  [
    'GET /organizations/org-1/retirements/ret-1/pdf',
    installed,
    '%PDF-1.7',
    async clients => collectBytes((await clients.organization.downloadCertificate('ret-1')).body),
  ],
  [
    'GET /organizations/org-1/inventory',
    installed,
    { credits: [], organizationId: 'org-1' },
    clients => collect(clients.organization.listInventory()),
  ],
  [
    `GET /organizations/org-1/inventory/requests${list}`,
    installed,
    { ...empty, creditRequests: [] },
    clients => collect(clients.organization.listInventoryRequests()),
  ],
  [
    'GET /organizations/org-1/inventory/requests/req-1',
    installed,
    request,
    clients => clients.organization.readInventoryRequest('req-1'),
  ],
  [
    'POST /organizations/org-1/inventory/requests/transfer_retire',
    installed,
    request,
    clients =>
      clients.organization.requestInventoryAction('transfer_retire', {
        creditId: 'exPost-1-0xabc',
        amount: 0.1,
        toOrganizationId: 'org-2',
        toAddress: '0xabc',
        retirementData,
      }),
    '{"creditId":"exPost-1-0xabc","amount":0.1,"toOrganizationId":"org-2","toAddress":"0xabc","retirementData":{"reason":"Voluntary","beneficiaryName":"Ása","comment":"thanks"}}',
  ],
  [
    'GET /organizations/org-1/friendbot',
    appToken,
    { credits: [] },
    clients => clients.token.friendbot('org-1'),
  ],
  [
    `GET /projects${list}`,
    appToken,
    { ...empty, projects: [] },
    clients => collect(clients.token.listProjects()),
  ],
  [
    'GET /projects/find?serialization=ICR-ISL-354-1-14-R-0-2021&creditId=exPost-1-0xabc',
    appToken,
    project,
    clients =>
      clients.token.findProject({
        serialization: 'ICR-ISL-354-1-14-R-0-2021',
        creditId: 'exPost-1-0xabc',
      }),
  ],
  [
    'GET /projects/find?serialization=ICR%2FISL+7%26a%3D1&creditId=ICR%3A2021%2F7+a',
    appToken,
    { projectId: 'proj-1' },
    clients => clients.token.findProject({ serialization: 'ICR/ISL 7&a=1', creditId: 'ICR:2021/7 a' }),
  ],
  ['GET /projects/proj-1', appToken, project, clients => clients.token.readProject('proj-1')],
  ['GET /retirements?id=ret-1', appToken, retirement, clients => clients.token.readRetirement('ret-1')],
  [
    'GET /retirements/ret-1/pdf',
    appToken,
    '%PDF-1.7',
    async clients => collectBytes((await clients.token.downloadCertificate('ret-1')).body),
  ],
];

const OPERATIONS = DESCRIBED.map(
  ([sent, credential, answer, call, body]) => [sent, credential, answer, call, body] as const,
);

useNockInThisFile();
beforeEach(() => nock.disableNetConnect());
afterEach(() => expect(nock.pendingMocks()).toEqual([]));

test.each(OPERATIONS)(
  '%s is sent exactly as documented',
  async (operation, authorization, answer, call, body) => {
    const [method = '', path = ''] = operation.split(' ');
    const sent: unknown[] = [];
    const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
    nock('https://registry.test')
      .intercept(() => true, method)
      .reply(
        200,
        function reply(uri, sentBody) {
          const { headers } = this.req;
          sent.push({
            path: uri,
            body: typeof sentBody === 'string' ? sentBody : JSON.stringify(sentBody),
            authorization: headers['authorization'],
            accept: headers['accept'],
            version: headers['x-registry-api-version'],
            contentType: headers['content-type'],
          });
          return text;
        },
        { 'content-length': String(Buffer.byteLength(text)) },
      );
    await call(createTestClients(BASE));
    expect(sent).toEqual([
      {
        path: `/partner/api${path}`,
        body: body ?? '',
        authorization,
        accept: path.endsWith('/pdf') ? 'application/octet-stream' : 'application/json',
        version: '2023-06-16',
        contentType: body === undefined ? undefined : 'application/json',
      },
    ]);
  },
);

test('the header prefix, the version and the find path can be set', async () => {
  nock('https://registry.test', {
    reqheaders: { 'x-icr-api-version': '2024-01-01' },
    badheaders: ['x-registry-api-version'],
  })
    .get('/projects/find/project?creditId=c-1')
    .reply(200, project);
  const http = createTestHttpClient('https://registry.test', {
    headerPrefix: 'icr',
    apiVersion: '2024-01-01',
    findPath: '/projects/find/project',
  });
  const client = createTokenClient({ http, token: createAppTokenSource() });
  await expect(client.findProject({ creditId: 'c-1' })).resolves.toMatchObject({ id: 'proj-1' });
});
