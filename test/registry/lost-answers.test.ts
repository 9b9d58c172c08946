import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { createAppClient } from '../../src/registry/app-client.js';
import { RegistryError } from '../../src/registry/errors.js';
import { createOrganizationClient } from '../../src/registry/organization-client.js';
import { createTokenClient } from '../../src/registry/token-client.js';
import {
  appTokenSource,
  installationTokenSource,
  jwtSource,
  listenLoopback,
  testHttp,
} from '../support/registry-client.js';

/** `null` cuts the connection; text goes out as it is. */
type Reply = string | object | null;

async function listen(reply: (request: IncomingMessage, count: number) => Reply, status = 200) {
  const seen: string[] = [];
  const bodies: string[] = [];
  const waits: number[] = [];
  const loopback = await listenLoopback((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const count = seen.length;
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
  const http = testHttp(loopback.url, {
    sleep: async ms => {
      waits.push(ms);
    },
  });
  const token = installationTokenSource();
  return {
    http,
    seen,
    bodies,
    waits,
    organization: createOrganizationClient({ http, organizationId: 'org-1', appId: 'app-1', token }),
    app: createAppClient({ http, token: jwtSource() }),
    token: createTokenClient({ http, token: appTokenSource() }),
    [Symbol.asyncDispose]: () => loopback[Symbol.asyncDispose](),
  };
}

const reservation = (id: string, change: object = {}) => ({
  id,
  creditId: 'credit-1',
  amount: 2.5,
  createdAt: new Date().toISOString(),
  reserver: { id: 'app-1' },
  ...change,
});

const isRead = (request: IncomingMessage) => request.method === 'GET';
const pageOf = (request: IncomingMessage) => Number(/page=(\d+)/.exec(request.url ?? '')?.[1]);
const order = { creditId: 'credit-1', amount: '2.5' };

describe('T45 a look-up', () => {
  it('is sure of nothing in a list that was not read to its end', async () => {
    const others = Array.from({ length: 3 }, (_, index) => reservation(`old-${index}`, { amount: 1 }));
    await using registry = await listen(request =>
      isRead(request)
        ? {
            pagination: { total: 900, nextPage: pageOf(request) + 1 },
            reservations: [reservation('res-1'), ...others],
          }
        : null,
    );
    await expect(registry.organization.reserve(order)).rejects.toMatchObject({
      code: 'outcome_unknown',
      candidates: [{ id: 'res-1' }],
    });
  });

  it('counts a row once that slid onto the next page while it was read', async () => {
    await using registry = await listen(request => {
      if (!isRead(request)) return null;
      const page = pageOf(request);
      return {
        pagination: { total: 3, pageCount: 2, nextPage: page === 0 ? 1 : null },
        reservations:
          page === 0
            ? [reservation('a', { amount: 1 }), reservation('res-1')]
            : [reservation('res-1'), reservation('b', { amount: 1 })],
      };
    });
    await expect(registry.organization.reserve(order)).resolves.toMatchObject({ id: 'res-1' });
  });

  it('never hands one reservation to two callers who wrote the same amount in two ways', async () => {
    const held: object[] = [];
    await using registry = await listen(request => {
      if (isRead(request)) return { pagination: { total: held.length, nextPage: null }, reservations: held };
      held.push(reservation(`res-${held.length + 1}`));
      return held.length === 1 ? null : (held.at(-1) ?? null);
    });
    const both = await Promise.all([
      registry.organization.reserve({ creditId: 'credit-1', amount: '2.5' }),
      registry.organization.reserve({ creditId: 'credit-1', amount: '2.50' }),
    ]);
    expect(both.map(({ id }) => id)).toEqual(['res-1', 'res-2']);
    expect(registry.seen.map(line => line.split(' ')[0])).toEqual(['POST', 'GET', 'POST']);
  });
});

it('T45 a write for which no token could be had was not sent: its outcome is known', async () => {
  await using registry = await listen(() => reservation('res-1'));
  const failing = {
    get: () =>
      Promise.reject(
        new RegistryError('timeout', 'no token in time', { mayHaveHappened: true, status: 504 }),
      ),
    refuse: () => undefined,
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
  const finish = (registry: Awaited<ReturnType<typeof listen>>) =>
    registry.organization.finishReservation('res-1', 'transfer', { receiverId: 'org-2' });

  it('is not believed when a page of HTML says so and the reservation still stands', async () => {
    await using registry = await listen(request =>
      isRead(request) ? reservation('res-1', { isComplete: false }) : '<html>Welcome</html>',
    );
    await expect(finish(registry)).rejects.toMatchObject({ code: 'outcome_unknown' });
  });

  it('is shown by the reservation itself, not by whatever else has an id', async () => {
    await using registry = await listen(request =>
      isRead(request) ? reservation('res-1', { isComplete: true }) : reservation('transaction-9'),
    );
    await expect(finish(registry)).resolves.toMatchObject({ id: 'res-1', isComplete: true });
  });
});

describe('a deposit', () => {
  for (const answer of ['', '{}', '{"ok":true}', '[]']) {
    it(`that was answered ${answer === '' ? 'nothing' : answer} was made`, async () => {
      await using registry = await listen(() => answer);
      await expect(registry.token.friendbot('org-1')).resolves.toEqual([]);
      expect(registry.seen).toHaveLength(1);
    });
  }

  it('T45 whose answer is lost leaves no trace: nothing is looked for, and nobody waits', async () => {
    await using registry = await listen(() => null);
    await expect(registry.token.friendbot('org-1')).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(registry.seen).toHaveLength(1);
    expect(registry.waits).toEqual([]);
  });
});

it('a token that is refused after its revocation was lost is revoked', async () => {
  let calls = 0;
  await using registry = await listenLoopback((request, response) => {
    calls += 1;
    if (calls === 1) request.socket.destroy();
    else response.writeHead(401).end('{}');
  });
  const token = appTokenSource();
  await createTokenClient({ http: testHttp(registry.url), token }).revokeToken();
  expect(calls).toBe(2);
  expect(token.refused).toEqual(['crs_app']);
});

it('what a caller puts into a request stays data', async () => {
  await using registry = await listen(() => reservation('res-1'));
  const retirementData = { reason: 'r', json: '1,"receiverId":"org-9"' };
  await registry.organization.finishReservation('res-1', 'retire', { retirementData });
  expect(JSON.parse(registry.bodies[0] ?? '')).toEqual({ retirementData });
});

describe('an answer about something else than was asked for is refused', () => {
  const reads: Record<string, (registry: Awaited<ReturnType<typeof listen>>) => Promise<unknown>> = {
    installation: ({ app }) => app.readInstallation('inst-1'),
    'installation of an organization': ({ app }) => app.readInstallationOf('org-1'),
    organization: ({ organization }) => organization.readOrganization(),
    reservation: ({ organization }) => organization.readReservation('res-1'),
    request: ({ organization }) => organization.readInventoryRequest('req-1'),
    retirement: ({ organization }) => organization.readRetirement('ret-1'),
  };
  for (const [what, read] of Object.entries(reads)) {
    it(what, async () => {
      const other = { ...reservation('other'), organization: { id: 'org-9' } };
      await using registry = await listen(() => other);
      await expect(read(registry)).rejects.toMatchObject({ code: 'bad_answer' });
    });
  }

  it('but an id may come back in the other case', async () => {
    await using registry = await listen(() => ({ id: 'ORG-1' }));
    await expect(registry.organization.readOrganization()).resolves.toMatchObject({ id: 'ORG-1' });
  });
});
