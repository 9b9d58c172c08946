import nock from 'nock';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { useNockInThisFile } from '../support/nock.js';
import { createAppClient } from '../../src/registry/app-client.js';
import { createOrganizationClient } from '../../src/registry/organization-client.js';
import { createTokenClient } from '../../src/registry/token-client.js';
import {
  createAppTokenSource,
  collect,
  collectBytes,
  createInstallationTokenSource,
  createJwtSource,
  createTestHttpClient,
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

/** The request that the client must send. */
interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly authorization: string;
  readonly body?: string;
  readonly accept?: string;
}

/** A call of the client, the answer to it, and the request that it must send. */
interface EndpointCase extends SentRequest {
  readonly answer: unknown;
  readonly call: (clients: ReturnType<typeof createClients>) => Promise<unknown>;
}

function createClients() {
  const http = createTestHttpClient(BASE);
  const installed = createInstallationTokenSource();
  return {
    app: createAppClient({ http, token: createJwtSource() }),
    organization: createOrganizationClient({
      http,
      organizationId: 'org-1',
      appId: 'app-1',
      token: installed,
    }),
    token: createTokenClient({ http, token: createAppTokenSource() }),
  };
}

const jwt = 'Bearer jwt-text';
const installed = 'Bearer crs_installation';
const appToken = 'Bearer crs_app';
const list = '?limit=100&page=0';
const empty = { pagination: { total: 0, currentPage: 0, pageCount: 0, nextPage: null } };

const cases: EndpointCase[] = [
  {
    method: 'POST',
    path: '/app/accessTokens',
    authorization: jwt,
    answer: token,
    call: ({ app }) => app.createAppToken(),
  },
  {
    method: 'POST',
    path: '/app/installations/inst-1/accessTokens',
    authorization: jwt,
    answer: token,
    call: ({ app }) => app.createInstallationToken('inst-1'),
  },
  {
    method: 'POST',
    path: '/app/create/user/organization',
    authorization: jwt,
    body: '{"user":{"email":"a@b.is","fullName":"Ása","profilePicture":""},"organization":{"fullName":"Fjord","type":"other","countryCode":"IS"}}',
    answer: { user: { id: 'u-1' }, organization, installation },
    call: ({ app }) =>
      app.createUserAndOrganization({
        user: { email: 'a@b.is', fullName: 'Ása', profilePicture: '' },
        organization: { fullName: 'Fjord', type: 'other', countryCode: 'IS' },
      }),
  },
  {
    method: 'GET',
    path: `/app/installations${list}`,
    authorization: jwt,
    answer: { ...empty, installations: [] },
    call: ({ app }) => collect(app.listInstallations()),
  },
  {
    method: 'GET',
    path: '/app/installations/inst-1',
    authorization: jwt,
    answer: installation,
    call: ({ app }) => app.readInstallation('inst-1'),
  },
  {
    method: 'GET',
    path: '/app/organizations/org-1/installation',
    authorization: jwt,
    answer: installation,
    call: ({ app }) => app.readInstallationOf('org-1'),
  },
  {
    method: 'DELETE',
    path: '/app/installations/token',
    authorization: appToken,
    answer: {},
    call: clients => clients.token.revokeToken(),
  },
  {
    method: 'GET',
    path: '/organizations/org-1/warehouse/inventory',
    authorization: installed,
    answer: { credits: [], organizationId: 'org-1' },
    call: clients => collect(clients.organization.listWarehouse()),
  },
  {
    method: 'GET',
    path: `/organizations/org-1/warehouse/inventory/reservations${list}`,
    authorization: installed,
    answer: { ...empty, reservations: [] },
    call: clients => collect(clients.organization.listReservations()),
  },
  {
    method: 'POST',
    path: '/organizations/org-1/warehouse/inventory/reservations',
    authorization: installed,
    body: '{"amount":2.5,"creditId":"exPost-1-0xabc"}',
    answer: reservation,
    call: clients => clients.organization.reserve({ creditId: 'exPost-1-0xabc', amount: '2.5' }),
  },
  {
    method: 'GET',
    path: '/organizations/org-1/warehouse/inventory/reservations/res-1',
    authorization: installed,
    answer: reservation,
    call: clients => clients.organization.readReservation('res-1'),
  },
  {
    method: 'DELETE',
    path: '/organizations/org-1/warehouse/inventory/reservations/res-1',
    authorization: installed,
    answer: reservation,
    call: clients => clients.organization.cancelReservation('res-1'),
  },
  {
    method: 'POST',
    path: '/organizations/org-1/warehouse/inventory/reservations/res-1/transfer_retire',
    authorization: installed,
    body: '{"receiverId":"org-2","receiverAddress":"0xabc","transferComment":"sold","retirementData":{"reason":"Voluntary","beneficiaryName":"Ása","comment":"thanks"}}',
    answer: reservation,
    call: clients =>
      clients.organization.finishReservation('res-1', 'transfer_retire', {
        receiverId: 'org-2',
        receiverAddress: '0xabc',
        transferComment: 'sold',
        retirementData,
      }),
  },
  {
    method: 'GET',
    path: '/organizations/org-1',
    authorization: installed,
    answer: organization,
    call: clients => clients.organization.readOrganization(),
  },
  {
    method: 'GET',
    path: '/organizations/org-1/addresses',
    authorization: installed,
    answer: { addresses: [] },
    call: clients => collect(clients.organization.listAddresses()),
  },
  {
    method: 'GET',
    path: '/organizations/org-1/members',
    authorization: installed,
    answer: { members: [] },
    call: clients => collect(clients.organization.listMembers()),
  },
  {
    method: 'GET',
    path: `/organizations/org-1/retirements${list}`,
    authorization: installed,
    answer: { ...empty, retirements: [] },
    call: clients => collect(clients.organization.listRetirements()),
  },
  {
    method: 'GET',
    path: '/organizations/org-1/retirements/ret-1',
    authorization: installed,
    answer: retirement,
    call: clients => clients.organization.readRetirement('ret-1'),
  },
  {
    method: 'GET',
    path: '/organizations/org-1/retirements/ret-1/pdf',
    authorization: installed,
    accept: 'application/octet-stream',
    answer: '%PDF-1.7',
    call: async clients => collectBytes((await clients.organization.downloadCertificate('ret-1')).body),
  },
  {
    method: 'GET',
    path: '/organizations/org-1/inventory',
    authorization: installed,
    answer: { credits: [], organizationId: 'org-1' },
    call: clients => collect(clients.organization.listInventory()),
  },
  {
    method: 'GET',
    path: `/organizations/org-1/inventory/requests${list}`,
    authorization: installed,
    answer: { ...empty, creditRequests: [] },
    call: clients => collect(clients.organization.listInventoryRequests()),
  },
  {
    method: 'GET',
    path: '/organizations/org-1/inventory/requests/req-1',
    authorization: installed,
    answer: request,
    call: clients => clients.organization.readInventoryRequest('req-1'),
  },
  {
    method: 'POST',
    path: '/organizations/org-1/inventory/requests/transfer_retire',
    authorization: installed,
    body: '{"creditId":"exPost-1-0xabc","amount":0.1,"toOrganizationId":"org-2","toAddress":"0xabc","retirementData":{"reason":"Voluntary","beneficiaryName":"Ása","comment":"thanks"}}',
    answer: request,
    call: clients =>
      clients.organization.requestInventoryAction('transfer_retire', {
        creditId: 'exPost-1-0xabc',
        amount: 0.1,
        toOrganizationId: 'org-2',
        toAddress: '0xabc',
        retirementData,
      }),
  },
  {
    method: 'GET',
    path: '/organizations/org-1/friendbot',
    authorization: appToken,
    answer: { credits: [] },
    call: clients => clients.token.friendbot('org-1'),
  },
  {
    method: 'GET',
    path: `/projects${list}`,
    authorization: appToken,
    answer: { ...empty, projects: [] },
    call: clients => collect(clients.token.listProjects()),
  },
  {
    method: 'GET',
    path: '/projects/find?serialization=ICR-ISL-354-1-14-R-0-2021&creditId=exPost-1-0xabc',
    authorization: appToken,
    answer: project,
    call: clients =>
      clients.token.findProject({
        serialization: 'ICR-ISL-354-1-14-R-0-2021',
        creditId: 'exPost-1-0xabc',
      }),
  },
  {
    method: 'GET',
    path: '/projects/find?serialization=ICR%2FISL+7%26a%3D1&creditId=ICR%3A2021%2F7+a',
    authorization: appToken,
    answer: { projectId: 'proj-1' },
    call: clients => clients.token.findProject({ serialization: 'ICR/ISL 7&a=1', creditId: 'ICR:2021/7 a' }),
  },
  {
    method: 'GET',
    path: '/projects/proj-1',
    authorization: appToken,
    answer: project,
    call: clients => clients.token.readProject('proj-1'),
  },
  {
    method: 'GET',
    path: '/retirements?id=ret-1',
    authorization: appToken,
    answer: retirement,
    call: clients => clients.token.readRetirement('ret-1'),
  },
  {
    method: 'GET',
    path: '/retirements/ret-1/pdf',
    authorization: appToken,
    accept: 'application/octet-stream',
    answer: '%PDF-1.7',
    call: async clients => collectBytes((await clients.token.downloadCertificate('ret-1')).body),
  },
];

useNockInThisFile();
beforeEach(() => {
  nock.disableNetConnect();
});

afterEach(() => {
  const pending = nock.pendingMocks();
  expect(pending).toEqual([]);
});

test.each(cases)('$method $path is sent exactly as documented', async ({ call, answer, ...expected }) => {
  const sent: Record<string, unknown>[] = [];
  const answerText = typeof answer === 'string' ? answer : JSON.stringify(answer);
  nock('https://registry.test')
    .intercept(() => true, expected.method, undefined)
    .reply(
      200,
      function reply(uri, body) {
        const { headers } = this.req;
        sent.push({
          path: uri,
          body: typeof body === 'string' ? body : JSON.stringify(body),
          authorization: headers['authorization'],
          accept: headers['accept'],
          version: headers['x-registry-api-version'],
          contentType: headers['content-type'],
        });
        return answerText;
      },
      { 'content-length': String(Buffer.byteLength(answerText)) },
    );

  await call(createClients());

  expect(sent).toEqual([
    {
      path: `/partner/api${expected.path}`,
      body: expected.body ?? '',
      authorization: expected.authorization,
      accept: expected.accept ?? 'application/json',
      version: '2023-06-16',
      contentType: expected.body === undefined ? undefined : 'application/json',
    },
  ]);
});

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
