import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createAppClient } from '../../src/registry/app-client.js';
import { RegistryError } from '../../src/registry/errors.js';
import { createOrganizationClient } from '../../src/registry/organization-client.js';
import { createTokenClient } from '../../src/registry/token-client.js';
import {
  createAppTokenSource,
  createInstallationTokenSource,
  createJwtSource,
  startLoopbackServer,
  createTestHttpClient,
} from '../support/registry-client.js';

/** An answer of the registry. Text is sent as it is; null cuts the connection. */
type Reply = string | object | null;

/** Starts a registry that answers with `reply`, and records requests, bodies and waits. */
async function startRegistry(reply: (request: IncomingMessage, count: number) => Reply, status = 200) {
  const requestLines: string[] = [];
  const bodies: string[] = [];
  const waits: number[] = [];
  const loopback = await startLoopbackServer((request, response) => {
    requestLines.push(`${request.method} ${request.url}`);
    const count = requestLines.length;
    let body = '';
    request.on('data', part => {
      body += String(part);
    });
    request.on('end', () => {
      bodies.push(body);
      const answer = reply(request, count);
      if (answer === null) request.socket.destroy();
      else response.writeHead(status).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    });
  });
  const http = createTestHttpClient(loopback.url, {
    sleep: async ms => {
      waits.push(ms);
    },
  });
  const token = createInstallationTokenSource();
  return {
    http,
    seen: requestLines,
    bodies,
    waits,
    organization: createOrganizationClient({ http, organizationId: 'org-1', appId: 'app-1', token }),
    app: createAppClient({ http, token: createJwtSource() }),
    token: createTokenClient({ http, token: createAppTokenSource() }),
    [Symbol.asyncDispose]: () => loopback[Symbol.asyncDispose](),
  };
}

const createReservation = (id: string, change: object = {}) => ({
  id,
  creditId: 'credit-1',
  amount: 2.5,
  createdAt: new Date().toISOString(),
  reserver: { id: 'app-1' },
  ...change,
});

const isGet = (request: IncomingMessage) => request.method === 'GET';
const getPageNumber = (request: IncomingMessage) => Number(/page=(\d+)/.exec(request.url ?? '')?.[1]);
const order = { creditId: 'credit-1', amount: '2.5' };

describe('T45 a look-up', () => {
  it('finds nothing certain in a list that was not read to its end', async () => {
    const others = Array.from({ length: 3 }, (_, index) => createReservation(`old-${index}`, { amount: 1 }));
    await using registry = await startRegistry(request =>
      isGet(request)
        ? {
            pagination: { total: 900, nextPage: getPageNumber(request) + 1 },
            reservations: [createReservation('res-1'), ...others],
          }
        : null,
    );
    await expect(registry.organization.reserve(order)).rejects.toMatchObject({
      code: 'outcome_unknown',
      candidates: [{ id: 'res-1' }],
    });
  });

  it('counts a row once if it moves to the next page during the read', async () => {
    await using registry = await startRegistry(request => {
      if (!isGet(request)) return null;
      const page = getPageNumber(request);
      return {
        pagination: { total: 3, pageCount: 2, nextPage: page === 0 ? 1 : null },
        reservations:
          page === 0
            ? [createReservation('a', { amount: 1 }), createReservation('res-1')]
            : [createReservation('res-1'), createReservation('b', { amount: 1 })],
      };
    });
    await expect(registry.organization.reserve(order)).resolves.toMatchObject({ id: 'res-1' });
  });

  it('never returns one reservation to two callers whose amounts are equal but written differently', async () => {
    const reservations: object[] = [];
    await using registry = await startRegistry(request => {
      if (isGet(request))
        return { pagination: { total: reservations.length, nextPage: null }, reservations: reservations };
      reservations.push(createReservation(`res-${reservations.length + 1}`));
      return reservations.length === 1 ? null : (reservations.at(-1) ?? null);
    });
    const both = await Promise.all([
      registry.organization.reserve({ creditId: 'credit-1', amount: '2.5' }),
      registry.organization.reserve({ creditId: 'credit-1', amount: '2.50' }),
    ]);
    expect(both.map(({ id }) => id)).toEqual(['res-1', 'res-2']);
    expect(registry.seen.map(line => line.split(' ')[0])).toEqual(['POST', 'GET', 'POST']);
  });
});

it('T45 a write for which no token was issued was not sent, so its outcome is known', async () => {
  await using registry = await startRegistry(() => createReservation('res-1'));
  const failing = {
    get: () =>
      Promise.reject(
        new RegistryError('timeout', 'no token in time', { mayHaveHappened: true, status: 504 }),
      ),
    discard: () => undefined,
  };
  const client = createOrganizationClient({
    http: registry.http,
    organizationId: 'org-1',
    appId: 'app-1',
    token: failing,
  });
  await expect(client.reserve(order)).rejects.toMatchObject({
    code: 'timeout',
    mayHaveHappened: false,
    status: 504,
  });
  expect([registry.seen, registry.waits]).toEqual([[], []]);
});

describe('T45 an accepted finish', () => {
  const finish = (registry: Awaited<ReturnType<typeof startRegistry>>) =>
    registry.organization.finishReservation('res-1', 'transfer', { receiverId: 'org-2' });

  it('ends as outcome_unknown if the answer is an HTML page and the reservation is still outstanding', async () => {
    await using registry = await startRegistry(request =>
      isGet(request) ? createReservation('res-1', { isComplete: false }) : '<html>Welcome</html>',
    );
    await expect(finish(registry)).rejects.toMatchObject({ code: 'outcome_unknown' });
  });

  it('returns the reservation, not another object with an id', async () => {
    await using registry = await startRegistry(request =>
      isGet(request) ? createReservation('res-1', { isComplete: true }) : createReservation('transaction-9'),
    );
    await expect(finish(registry)).resolves.toMatchObject({ id: 'res-1', isComplete: true });
  });
});

describe('a deposit', () => {
  for (const answer of ['', '{}', '{"ok":true}', '[]']) {
    it(`is confirmed by ${answer === '' ? 'an empty answer' : answer}`, async () => {
      await using registry = await startRegistry(() => answer);
      await expect(registry.token.friendbot('org-1')).resolves.toEqual([]);
      expect(registry.seen).toHaveLength(1);
    });
  }

  it('T45 ends as outcome_unknown without a look-up if its answer is lost', async () => {
    await using registry = await startRegistry(() => null);
    await expect(registry.token.friendbot('org-1')).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(registry.seen).toHaveLength(1);
    expect(registry.waits).toEqual([]);
  });
});

it('a token that is refused after the answer to its revocation was lost counts as revoked', async () => {
  let calls = 0;
  await using registry = await startLoopbackServer((request, response) => {
    calls += 1;
    if (calls === 1) request.socket.destroy();
    else response.writeHead(401).end('{}');
  });
  const token = createAppTokenSource();
  await createTokenClient({ http: createTestHttpClient(registry.url), token }).revokeToken();
  expect(calls).toBe(2);
  expect(token.refused).toEqual(['crs_app']);
});

it('texts from the caller cannot change the structure of a request', async () => {
  await using registry = await startRegistry(() => createReservation('res-1'));
  const retirementData = { reason: 'r', json: '1,"receiverId":"org-9"' };
  await registry.organization.finishReservation('res-1', 'retire', { retirementData });
  expect(JSON.parse(registry.bodies[0] ?? '')).toEqual({ retirementData });
});

describe('an answer with another object than requested is refused', () => {
  const reads: Record<string, (registry: Awaited<ReturnType<typeof startRegistry>>) => Promise<unknown>> = {
    installation: ({ app }) => app.readInstallation('inst-1'),
    'installation of an organization': ({ app }) => app.readInstallationOf('org-1'),
    organization: ({ organization }) => organization.readOrganization(),
    reservation: ({ organization }) => organization.readReservation('res-1'),
    request: ({ organization }) => organization.readInventoryRequest('req-1'),
    retirement: ({ organization }) => organization.readRetirement('ret-1'),
  };
  for (const [what, read] of Object.entries(reads)) {
    it(what, async () => {
      const other = { ...createReservation('other'), organization: { id: 'org-9' } };
      await using registry = await startRegistry(() => other);
      await expect(read(registry)).rejects.toMatchObject({ code: 'bad_answer' });
    });
  }

  it('unless its id differs only in upper and lower case', async () => {
    await using registry = await startRegistry(() => ({ id: 'ORG-1' }));
    await expect(registry.organization.readOrganization()).resolves.toMatchObject({ id: 'ORG-1' });
  });
});
