import { describe, expect, test } from 'vitest';
import { createClientWithToken } from '../../src/registry/access-token-client.js';
import { installApp, issueCredit, startTemporarySandbox } from '../support/sandbox.js';
import { startLoopbackServer } from '../support/registry-client.js';

const REAL = { now: Date.now, random: () => 0, sleep: async () => undefined };
const ONE = { total: 1, currentPage: 0, pageCount: 1, nextPage: null, prevPage: null };

describe('a client with an access token', () => {
  test('makes the calls that its token allows, without a private key', async () => {
    const sandbox = await startTemporarySandbox();
    const { app, organization, token } = installApp(sandbox);
    const creditId = issueCredit(sandbox, organization.id);
    const client = createClientWithToken({ ...REAL, baseUrl: sandbox.url, token, appId: app.id });
    const own = client.organization(organization.id);
    expect((await own.readOrganization()).fullName).toBe(organization.fullName);
    expect((await client.token.findProject({ creditId })).fullName).toMatch(/^project /);
    expect(await own.reserve({ creditId, amount: '2' })).toMatchObject({ reserverId: app.id });
  });

  test('fails if the registry refuses a token that was given as a string', async () => {
    let requests = 0;
    const registry = await startLoopbackServer((_request, response) => {
      requests += 1;
      response.writeHead(401).end('{"statusCode":401,"message":"Access token invalid"}');
    });
    const client = createClientWithToken({ ...REAL, baseUrl: registry.url, token: 'crs_of_yesterday' });
    await expect(client.token.readProject('p')).rejects.toMatchObject({ code: 'unauthorized' });
    expect(requests).toBe(1);
  });

  test('calls a token function again after a refusal', async () => {
    const tokens = ['crs_of_yesterday', 'crs_of_today'];
    const registry = await startLoopbackServer((request, response) => {
      const isGood = request.headers.authorization === 'Bearer crs_of_today';
      if (isGood) response.end('{"id":"p"}');
      else response.writeHead(401).end('{"statusCode":401,"message":"Access token invalid"}');
    });
    const token = async () => tokens.shift() ?? '';
    const client = createClientWithToken({ ...REAL, baseUrl: registry.url, token });
    expect(await client.token.readProject('p')).toMatchObject({ id: 'p' });
  });

  test.each(['', 'two words', 'line\nend', 'ä'])('refuses %j as a token', token => {
    const options = { ...REAL, baseUrl: 'https://registry.example', token };
    expect(() => createClientWithToken(options)).toThrow('expected an access token');
  });

  test('T45 a lost reservation is never recognized as ours without an app id', async () => {
    const mine = { id: 'r', creditId: 'c', amount: 1, reserver: { id: 'some app' } };
    const registry = await startLoopbackServer((request, response) => {
      if (request.method === 'POST') return request.socket.destroy();
      const createdAt = new Date().toISOString();
      return response.end(JSON.stringify({ pagination: ONE, reservations: [{ ...mine, createdAt }] }));
    });
    const reserve = async (appId?: string) => {
      const given = { ...REAL, baseUrl: registry.url, token: 'crs_given', attempts: 1 };
      const client = createClientWithToken(appId === undefined ? given : { ...given, appId });
      return await client.organization('o').reserve({ creditId: 'c', amount: '1' });
    };
    await expect(reserve()).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(await reserve('some app')).toMatchObject({ id: 'r' });
  });
});
