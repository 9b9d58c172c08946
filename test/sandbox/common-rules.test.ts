import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/start.js';
import {
  callSandbox,
  installApp,
  issueCredit,
  signAppJwt,
  startSandboxForFile,
  startTemporarySandbox,
} from '../support/sandbox.js';

const sandbox = await startSandboxForFile();
const installed = installApp(sandbox);
const read = `GET /organizations/${installed.organization.id}`;

/** Makes a call with exactly these headers. */
async function fetchWithHeaders(url: string, headers: Record<string, string>): Promise<Response> {
  return fetch(url, { headers });
}

describe('versioning', () => {
  test('every call accepts x-registry-api-version 2023-06-16, in any case of letters', async () => {
    const url = `${sandbox.url}/organizations/${installed.organization.id}`;
    const authorization = `Bearer ${installed.token}`;
    const response = await fetchWithHeaders(url, { authorization, 'X-Registry-API-Version': '2023-06-16' });
    expect(response.status).toBe(200);
  });

  test.each(['2023-06-17', '', 'latest', '2023-06-16 '.repeat(2)])(
    'another value, %j, is 400',
    async version => {
      const headers = { 'x-registry-api-version': version };
      const { status, body } = await callSandbox(sandbox, read, { token: installed.token, headers });
      expect(status).toBe(400);
      expect(body).toMatchObject({ statusCode: 400, error: 'Bad Request' });
    },
  );

  test('a strict sandbox refuses a missing version header', async () => {
    const url = `${sandbox.url}/organizations/${installed.organization.id}`;
    expect((await fetchWithHeaders(url, { authorization: `Bearer ${installed.token}` })).status).toBe(400);
  });

  test('a sandbox that is not strict accepts a missing version header and counts it', async () => {
    const forgiving = await startTemporarySandbox({ strict: false });
    const { organization, token } = installApp(forgiving);
    const url = `${forgiving.url}/organizations/${organization.id}`;
    const authorization = `Bearer ${token}`;
    expect((await fetchWithHeaders(url, { authorization })).status).toBe(200);
    expect(
      (await fetchWithHeaders(url, { authorization, 'x-registry-api-version': '2023-06-17' })).status,
    ).toBe(400);
    expect((await callSandbox(forgiving, 'GET /_sandbox/status')).body.callsWithoutVersion).toBe(1);
  });

  test('the prefix of the headers can be set to that of the public registry', async () => {
    const other = await startTemporarySandbox({ headerPrefix: 'icr' });
    const { organization, token } = installApp(other);
    const url = `${other.url}/organizations/${organization.id}`;
    const authorization = `Bearer ${token}`;
    expect((await fetchWithHeaders(url, { authorization, 'x-icr-api-version': '2023-06-16' })).status).toBe(
      200,
    );
    expect(
      (await fetchWithHeaders(url, { authorization, 'x-registry-api-version': '2023-06-16' })).status,
    ).toBe(400);
  });

  test('a version header with another prefix is refused, even if the sandbox is not strict', async () => {
    const forgiving = await startTemporarySandbox({ headerPrefix: 'icr', strict: false });
    const { organization, token } = installApp(forgiving);
    const answer = await fetchWithHeaders(`${forgiving.url}/organizations/${organization.id}`, {
      authorization: `Bearer ${token}`,
      'x-registry-api-version': '2023-06-16',
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({
      message: 'The header x-icr-api-version is missing: got x-registry-api-version instead',
    });
  });
});

describe('every call needs Authorization: Bearer and a token', () => {
  const ROUTES = [
    'POST /app/accessTokens',
    'DELETE /app/installations/token',
    'GET /projects',
    'GET /projects/find',
    'GET /retirements',
    'GET /organizations/<id>',
    'GET /organizations/<id>/friendbot',
    'POST /organizations/<id>/warehouse/inventory/reservations',
  ];

  test.each(ROUTES)('%s without the header answers 401', async route => {
    const call = route.replace('<id>', installed.organization.id);
    const { status, body } = await callSandbox(sandbox, call);
    expect(status).toBe(401);
    expect(body).toEqual({ statusCode: 401, message: expect.any(String), error: 'Unauthorized' });
  });

  test.each(['', 'Bearer', 'Basic abc', 'Bearer a b'])('the header %j answers 401', async authorization => {
    expect((await callSandbox(sandbox, read, { headers: { authorization } })).status).toBe(401);
  });

  test.each(['crs_unknown', 'cru_other', 'eyJ.eyJ.x'])(
    'the unknown access token %s answers 403',
    async token => {
      expect(await callSandbox(sandbox, read, { token })).toMatchObject({
        status: 403,
        body: { statusCode: 403, message: 'Access token invalid', error: 'Forbidden' },
      });
    },
  );

  test('an app JWT is not accepted as an access token', async () => {
    expect((await callSandbox(sandbox, read, { token: signAppJwt(sandbox, installed.app) })).status).toBe(
      403,
    );
  });
});

describe('the Accept header', () => {
  test('must allow application/json, and application/octet-stream for certificates', async () => {
    const { organization, token } = installApp(sandbox, { app: installed.app });
    const creditId = issueCredit(sandbox, organization.id);
    const queue = `/organizations/${organization.id}/warehouse/inventory/reservations`;
    const reservation = await callSandbox(sandbox, `POST ${queue}`, { token, body: { creditId, amount: 1 } });
    const retirementData = { reason: 'Other', beneficiaryName: 'Ada' };
    await callSandbox(sandbox, `POST ${queue}/${reservation.body.id}/retire`, {
      token,
      body: { retirementData },
    });
    const path = `/organizations/${organization.id}/retirements`;
    const list = await callSandbox(sandbox, `GET ${path}`, { token });
    expect(list.headers.get('content-type')).toMatch(/^application\/json/);

    const pdf = `GET ${path}/${list.body.retirements[0].id}/pdf`;
    const [octets, json] = ['application/octet-stream', 'application/json'];
    expect((await callSandbox(sandbox, pdf, { token, headers: { accept: octets } })).status).toBe(200);
    expect((await callSandbox(sandbox, pdf, { token, headers: { accept: json } })).status).toBe(406);
    expect((await callSandbox(sandbox, `GET ${path}`, { token, headers: { accept: octets } })).status).toBe(
      406,
    );
  });
});

test('a body must have the Content-Type application/json', async () => {
  const path = `POST /organizations/${installed.organization.id}/warehouse/inventory/reservations`;
  const body = '{"creditId":"x","amount":1}';
  const { token } = installed;
  const text = await callSandbox(sandbox, path, { token, body, headers: { 'content-type': 'text/plain' } });
  expect(text).toMatchObject({ status: 415, body: { statusCode: 415, error: 'Unsupported Media Type' } });
});

describe('paginated endpoints accept limit and page', () => {
  test.each(['limit=1&page=0', 'limit=1000&page=0', 'limit=1', 'page=2', ''])(
    'the query %j is valid',
    async query => {
      expect((await callSandbox(sandbox, `GET /projects?${query}`, { token: installed.token })).status).toBe(
        200,
      );
    },
  );
});

test('an installation access token reads one organization only', async () => {
  const other = installApp(sandbox, { app: installed.app });
  const { status } = await callSandbox(sandbox, `GET /organizations/${other.organization.id}`, {
    token: installed.token,
  });
  expect(status).toBe(403);
});

test('the Date header is the time of the sandbox’s clock', async () => {
  const moved = await startTemporarySandbox();
  moved.registry.store.clock.setTime(Date.UTC(2030, 0, 1));
  const { headers } = await callSandbox(moved, 'GET /projects');
  expect(headers.get('date')).toMatch(/^Tue, 01 Jan 2030 00:00/);
});

test('an idle connection stays open for a minute', async () => {
  expect((await callSandbox(sandbox, 'GET /projects')).headers.get('keep-alive')).toBe('timeout=60');
});

test('startSandbox rejects if the port is in use', async () => {
  await expect(startSandbox({ port: sandbox.port })).rejects.toThrow('EADDRINUSE');
});
