import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { inspect } from 'node:util';
import { decodeJwt, jwtVerify } from 'jose';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAccessTokens } from '../../../src/registry/auth/access-tokens.js';
import { createAppJwtSource } from '../../../src/registry/auth/app-jwt.js';
import { createRegistryClock } from '../../../src/registry/auth/registry-clock.js';
import { createAppClient } from '../../../src/registry/app-client.js';
import { createHttpClient } from '../../../src/registry/http/http-client.js';
import { createOrganizationClient } from '../../../src/registry/organization-client.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const registryNow = Date.parse('2026-06-01T12:00:00.000Z');
const keys = generateKeyPairSync('rsa', { modulusLength: 2048 });

interface Reply {
  readonly status: number;
  readonly body: object;
}

/** Returns the reply that refuses an access token; null if the token is accepted. */
type RefusalRule = (token: string, minted: number) => Reply | null;

const createRefusal = (status: 401 | 403): Reply => ({ status, body: { statusCode: status, message: 'no' } });

/** Starts a registry that verifies each JWT with the app's public key, by its own clock. */
async function startRegistry(getRefusal: RefusalRule = () => null) {
  const calls: string[] = [];
  let minted = 0;

  async function createReply(request: IncomingMessage): Promise<Reply> {
    const credential = request.headers.authorization?.replace('Bearer ', '') ?? '';
    if (request.url?.endsWith('/accessTokens') === true) {
      calls.push('mint');
      if (!(await isValidAppJwt(credential, keys.publicKey))) return createRefusal(401);
      minted += 1;
      return { status: 200, body: createTokenBody(minted) };
    }
    calls.push(credential);
    return getRefusal(credential, minted) ?? { status: 200, body: { id: 'org-1', fullName: 'Fjord' } };
  }

  async function sendReply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body } = await createReply(request);
    response.writeHead(status, { date: new Date(registryNow).toUTCString() });
    response.end(JSON.stringify(body));
  }

  const server = createServer((request, response) => {
    request.resume();
    sendReply(request, response).catch(() => response.destroy());
  });
  await new Promise<void>(resolve => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}`, calls };
}

function createTokenBody(tokenNumber: number) {
  return {
    token: `crs_${tokenNumber}`,
    expiresAt: new Date(registryNow + 2 * HOUR).toISOString(),
    permissions: { organization_info: 'VIEW' },
    installationId: 'inst-1',
    organizationId: 'org-1',
  };
}

/**
 * Verifies a JWT as the public registry does: RS256, `iat` at most slightly in the future, `exp` at most ten minutes
 * ahead.
 */
async function isValidAppJwt(jwt: string, publicKey: KeyObject): Promise<boolean> {
  try {
    await jwtVerify(jwt, publicKey, {
      algorithms: ['RS256'],
      issuer: 'app-1',
      currentDate: new Date(registryNow),
    });
    return (decodeJwt(jwt).exp ?? Infinity) * 1000 <= registryNow + 10 * MINUTE;
  } catch {
    return false;
  }
}

/** Connects the parts of a client as `createClient` does. */
function connectClientParts(url: string, localNow: number) {
  const corrections: number[] = [];
  const clock = createRegistryClock({
    now: () => localNow,
    onCorrection: offset => corrections.push(offset),
  });
  const http = createHttpClient({
    baseUrl: url,
    now: () => localNow,
    random: () => 0,
    sleep: async () => undefined,
    requestsPerSecond: Infinity,
    burst: 1000,
    concurrency: 50,
    attempts: 1,
    onDate: (registryMs, localMs, status) => clock.observeResponse({ registryMs, localMs, status }),
  });
  const jwt = createAppJwtSource({ appId: 'app-1', privateKey: keys.privateKey, now: clock.now });
  const tokens = createAccessTokens({ issuer: createAppClient({ http, token: jwt }), now: clock.now });
  const token = tokens.installation('inst-1', 'org-1');
  const organization = createOrganizationClient({ http, organizationId: 'org-1', appId: 'app-1', token });
  return { corrections, organization, tokens, jwt };
}

describe('T42 a clock', () => {
  for (const skew of [-2 * MINUTE, 0, 2 * MINUTE]) {
    it(`that is ${skew / MINUTE} minutes off gets a token at once and is not corrected`, async () => {
      const registry = await startRegistry();
      const { organization, corrections } = connectClientParts(registry.url, registryNow + skew);
      await organization.readOrganization();
      expect(registry.calls).toEqual(['mint', 'crs_1']);
      expect(corrections).toEqual([]);
    });
  }

  for (const skew of [-HOUR, HOUR]) {
    it(`that is ${skew / MINUTE} minutes off is corrected once from the Date header, and the same call succeeds`, async () => {
      const registry = await startRegistry();
      const { organization, corrections } = connectClientParts(registry.url, registryNow + skew);
      await organization.readOrganization();
      await organization.readOrganization();
      expect(registry.calls).toEqual(['mint', 'mint', 'crs_1', 'crs_1']);
      expect(corrections).toEqual([-skew]);
    });
  }

  it('that is right is not corrected for a JWT of another app, which is refused after at most two attempts', async () => {
    const registry = await startRegistry();
    const { tokens } = connectClientParts(registry.url, registryNow);
    const other = createAppJwtSource({ appId: 'app-2', privateKey: keys.privateKey, now: () => registryNow });
    const http = createHttpClient({
      baseUrl: registry.url,
      now: () => registryNow,
      random: () => 0,
      attempts: 1,
    });
    const client = createAppClient({ http, token: other });
    await expect(client.createInstallationToken('inst-1')).rejects.toMatchObject({ code: 'unauthorized' });
    expect(registry.calls.length).toBeLessThanOrEqual(2);
    expect(tokens.count()).toBe(0);
  });
});

describe('an access token', () => {
  it('T43 is requested once by 50 concurrent first calls', async () => {
    const registry = await startRegistry();
    const { organization } = connectClientParts(registry.url, registryNow);
    await Promise.all(Array.from({ length: 50 }, () => organization.readOrganization()));
    expect(registry.calls.filter(call => call === 'mint')).toHaveLength(1);
    expect(registry.calls).toHaveLength(51);
  });

  for (const status of [401, 403] as const) {
    it(`T38 that is refused with ${status} for 20 concurrent calls is renewed once for all of them`, async () => {
      let revoked = '';
      const registry = await startRegistry(token => (token === revoked ? createRefusal(status) : null));
      const { organization } = connectClientParts(registry.url, registryNow);
      await organization.readOrganization();
      revoked = 'crs_1';
      await Promise.all(Array.from({ length: 20 }, () => organization.readOrganization()));
      expect(registry.calls.filter(call => call === 'mint')).toHaveLength(2);
      await organization.readOrganization();
      expect(registry.calls.at(-1)).toBe('crs_2');
    });
  }

  it('T38 is not requested a third time after two refusals with 401', async () => {
    const registry = await startRegistry(() => createRefusal(401));
    const { organization } = connectClientParts(registry.url, registryNow);
    await expect(organization.readOrganization()).rejects.toMatchObject({
      code: 'unauthorized',
      status: 401,
    });
    expect(registry.calls).toEqual(['mint', 'crs_1', 'mint', 'crs_2']);
  });

  it('T39 that was just created is not renewed after a 403, because a permission is missing', async () => {
    const registry = await startRegistry(() => createRefusal(403));
    const { organization } = connectClientParts(registry.url, registryNow);
    await expect(organization.readOrganization()).rejects.toMatchObject({ code: 'forbidden', status: 403 });
    expect(registry.calls).toEqual(['mint', 'crs_1']);
    await expect(organization.readOrganization()).rejects.toMatchObject({ code: 'forbidden' });
    expect(registry.calls).toEqual(['mint', 'crs_1', 'crs_1', 'mint', 'crs_2']);
  });

  it('T69 appears in no error, and neither does the JWT', async () => {
    const jwts: string[] = [];
    const registry = await startRegistry(token => ({
      status: 400,
      body: { statusCode: 400, message: `${token} ${jwts[0]} Bearer ${jwts[0]}` },
    }));
    const { organization, jwt } = connectClientParts(registry.url, registryNow);
    jwts.push((await jwt.get()).token);
    const error: unknown = await organization.readOrganization().catch((caught: unknown) => caught);
    const printedError = inspect(error, { depth: 10 });
    expect(printedError).toContain('[masked]');
    expect(printedError).not.toContain('crs_1');
    for (const piece of jwts[0]?.split('.') ?? []) expect(printedError).not.toContain(piece);
  });
});
