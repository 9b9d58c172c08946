import { describe, expect, test } from 'vitest';
import { startSandbox } from '../../src/sandbox/start.js';
import {
  callSandbox,
  createRefusal,
  installApp,
  issueCredit,
  retireFromWarehouse,
  startSandboxForFile,
  startTemporarySandbox,
  VERSION,
} from '../support/sandbox.js';

const sandbox = await startSandboxForFile();
const { app, organization, token } = installApp(sandbox);
const root = `/organizations/${organization.id}`;

describe('the version header', () => {
  const MISNAMED = 'The header x-icr-api-version is missing: got x-registry-api-version instead';

  test.each<[string, object, Record<string, string>, number, string?]>([
    ['in any case of letters', {}, { 'X-Registry-API-Version': '2023-06-16' }, 200],
    ['with another version', {}, { 'x-registry-api-version': '2023-06-17' }, 400],
    ['that is empty', {}, { 'x-registry-api-version': '' }, 400],
    ['with a word', {}, { 'x-registry-api-version': 'latest' }, 400],
    ['that is sent twice', {}, { 'x-registry-api-version': '2023-06-16 2023-06-16' }, 400],
    ['that is missing, if the sandbox is strict', {}, {}, 400],
    ['that is missing, if the sandbox is not strict', { strict: false }, {}, 200],
    [
      'with another version, if the sandbox is not strict',
      { strict: false },
      { 'x-registry-api-version': '1' },
      400,
    ],
    [
      'with a prefix of the public registry',
      { headerPrefix: 'icr' },
      { 'x-icr-api-version': '2023-06-16' },
      200,
    ],
    ['with a prefix that is not configured', { headerPrefix: 'icr' }, VERSION, 400],
    [
      'with a prefix that is not configured, if the sandbox is not strict',
      { headerPrefix: 'icr', strict: false },
      VERSION,
      400,
      MISNAMED,
    ],
  ])('%s', async (_title, options, headers, status, message) => {
    const own = await startTemporarySandbox(options);
    const installed = installApp(own);
    const authorization = `Bearer ${installed.token}`;
    const url = `${own.url}/organizations/${installed.organization.id}`;
    const answer = await fetch(url, { headers: { authorization, ...headers } });
    expect(answer.status).toBe(status);
    if (status === 400)
      expect(await answer.json()).toMatchObject({ error: 'Bad Request', ...(message && { message }) });
    const { callsWithoutVersion } = (await callSandbox(own, 'GET /_sandbox/status')).body;
    const isSent = Object.keys(headers).some(
      name => name.toLowerCase() === `x-${own.registry.headerPrefix}-api-version`,
    );
    expect(callsWithoutVersion).toBe(isSent ? 0 : 1);
  });
});

describe('the Authorization header', () => {
  test.each(['', 'Bearer', 'Basic abc', 'Bearer a b'])('%j answers 401', async authorization => {
    expect((await callSandbox(sandbox, `GET ${root}`, { headers: { authorization } })).status).toBe(401);
  });

  test.each(['crs_unknown', 'cru_other', 'eyJ.eyJ.x'])(
    'with the unknown token %s answers 403',
    async unknown => {
      const body = { statusCode: 403, message: 'Access token invalid', error: 'Forbidden' };
      expect(await callSandbox(sandbox, `GET ${root}`, { token: unknown })).toMatchObject({
        status: 403,
        body,
      });
    },
  );
});

test('the Accept header must allow application/json, and application/octet-stream for certificates', async () => {
  const creditId = issueCredit(sandbox, organization.id);
  retireFromWarehouse(sandbox, { organizationId: organization.id, appId: app.id, creditId }, 1);
  const list = await callSandbox(sandbox, `GET ${root}/retirements`, { token });
  expect(list.headers.get('content-type')).toMatch(/^application\/json/);
  const pdf = `${root}/retirements/${list.body.retirements[0].id}/pdf`;
  for (const [path, accept, status] of [
    [pdf, 'application/octet-stream', 200],
    [pdf, 'application/json', 406],
    [`${root}/retirements`, 'application/octet-stream', 406],
  ] as const)
    expect((await callSandbox(sandbox, `GET ${path}`, { token, headers: { accept } })).status).toBe(status);
});

test('a body must have the Content-Type application/json', async () => {
  const path = `POST ${root}/warehouse/inventory/reservations`;
  const options = { token, body: '{"creditId":"x","amount":1}', headers: { 'content-type': 'text/plain' } };
  const body = { statusCode: 415, error: 'Unsupported Media Type' };
  expect(await callSandbox(sandbox, path, options)).toMatchObject({ ...createRefusal(415), body });
});

describe('a web page of any site', () => {
  const PAGE = { origin: 'https://shop.example' };

  test('may call the registry with a token, and reads answers, errors and file names', async () => {
    const { calls } = sandbox.registry;
    const before = calls.countCallsWithoutVersion();
    const preflight = await fetch(`${sandbox.url}${root}`, { method: 'OPTIONS', headers: PAGE });
    const allow = (name: string) => preflight.headers.get(`access-control-allow-${name}`)?.toLowerCase();
    expect([preflight.status, allow('origin'), allow('methods')]).toEqual([204, '*', 'get, post, delete']);
    const names = ['authorization', ...Object.keys(VERSION)];
    expect(allow('headers')?.split(', ')).toEqual(expect.arrayContaining(names));
    expect(calls.countCallsWithoutVersion()).toBe(before);
    for (const [credential, status] of [
      [token, 200],
      ['crs_none', 403],
    ] as const) {
      const answer = await callSandbox(sandbox, `GET ${root}`, { token: credential, headers: PAGE });
      expect(answer.status).toBe(status);
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      expect(answer.headers.get('access-control-expose-headers')).toContain('Content-Disposition');
    }
  });

  test('may neither call the control API nor read its refusal', async () => {
    for (const method of ['OPTIONS', 'GET']) {
      const refused = await fetch(`${sandbox.url}/_sandbox/status`, { method, headers: PAGE });
      expect(refused.status).toBe(403);
      expect(refused.headers.get('access-control-allow-origin')).toBeNull();
    }
  });
});

test('an answer has the date of the sandbox’s clock, and its connection stays open for a minute', async () => {
  const moved = await startTemporarySandbox();
  moved.registry.store.clock.setTime(Date.UTC(2030, 0, 1));
  const { headers } = await callSandbox(moved, 'GET /projects');
  expect(headers.get('date')).toMatch(/^Tue, 01 Jan 2030 00:00/);
  expect(headers.get('keep-alive')).toBe('timeout=60');
});

test('startSandbox rejects if the port is in use', async () => {
  await expect(startSandbox({ port: sandbox.port })).rejects.toThrow('EADDRINUSE');
});
