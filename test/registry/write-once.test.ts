import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
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

type Losing = 'cut' | 'silent' | 'html' | 'empty' | 'error';

interface World {
  /** What the registry holds after the write, as lists answer it. */
  readonly shown: (nowMs: number, writes: number) => Record<string, unknown>;
  readonly losing?: Losing;
}

const LOSSES: Record<Losing, (request: IncomingMessage, response: ServerResponse) => void> = {
  cut: request => request.socket.destroy(),
  silent: () => undefined,
  html: (_request, response) => response.end('<html>'),
  empty: (_request, response) => response.end(),
  error: (_request, response) => response.writeHead(502).end('{}'),
};

/** A registry that carries out every write and loses every answer to one. */
async function lossy({ shown, losing = 'cut' }: World) {
  const writes: string[] = [];
  const waits: number[] = [];
  const loopback = await listenLoopback((request, response) => {
    const path = request.url ?? '';
    if (request.method === 'GET' && !path.endsWith('/friendbot')) {
      const answer = shown(Date.now(), writes.length)[path.split('?')[0] ?? ''];
      const missing = { statusCode: 404, message: 'Not found' };
      response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? missing));
      return;
    }
    writes.push(`${request.method} ${path}`);
    request.resume().on('end', () => LOSSES[losing](request, response));
  });
  const http = testHttp(loopback.url, {
    deadlineMs: losing === 'silent' ? 200 : 5_000,
    sleep: async ms => {
      waits.push(ms);
    },
  });
  const token = installationTokenSource();
  return {
    writes,
    waits,
    http,
    organization: createOrganizationClient({ http, organizationId: 'org-1', appId: 'app-1', token }),
    app: createAppClient({ http, token: jwtSource() }),
    token: createTokenClient({ http, token: appTokenSource() }),
    [Symbol.asyncDispose]: () => loopback[Symbol.asyncDispose](),
  };
}

async function unknown(work: Promise<unknown>): Promise<RegistryError> {
  const error = await work.then(
    value => value,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(RegistryError);
  expect(error).toMatchObject({ code: 'outcome_unknown' });
  if (error instanceof RegistryError) return error;
  throw new Error('never');
}

const RESERVATIONS = '/organizations/org-1/warehouse/inventory/reservations';
const at = (ms: number) => new Date(ms).toISOString();
const listed = (key: string, items: readonly unknown[]) => ({
  [key]: items,
  pagination: { total: items.length, nextPage: null },
});
const held = (nowMs: number, change: object = {}) => ({
  id: 'res-1',
  creditId: 'credit-1',
  amount: 2.5,
  createdAt: at(nowMs),
  reserver: { id: 'app-1' },
  ...change,
});
const reservations =
  (...changes: object[]): World['shown'] =>
  nowMs => ({
    [RESERVATIONS]: listed(
      'reservations',
      changes.map((change, index) => held(nowMs, { id: `res-${index + 1}`, ...change })),
    ),
  });
const order = { creditId: 'credit-1', amount: '2.50' };

describe('T45 a reserve whose answer is lost', () => {
  test.each<Losing>(['cut', 'silent', 'html', 'empty', 'error'])(
    '(%s) is sent once and found again by app, credit and amount',
    async losing => {
      const others = [
        { reserver: { id: 'app-2' } },
        { creditId: 'credit-2' },
        { amount: 2.51 },
        { createdAt: at(Date.now() - 60_000) },
      ];
      await using registry = await lossy({ shown: reservations({}, ...others), losing });
      await expect(registry.organization.reserve(order)).resolves.toMatchObject({ id: 'res-1' });
      expect(registry.writes).toEqual([`POST ${RESERVATIONS}`]);
    },
  );

  test('is unknown when none is found, after it was looked for three times', async () => {
    await using registry = await lossy({ shown: reservations() });
    const error = await unknown(registry.organization.reserve(order));
    expect(error.candidates).toEqual([]);
    expect(error.cause).toMatchObject({ code: 'unavailable' });
    expect(registry.waits).toEqual([1_000, 4_000]);
    expect(registry.writes).toHaveLength(1);
  });

  test('is unknown when two are found, and both are shown', async () => {
    await using registry = await lossy({ shown: reservations({}, {}) });
    const error = await unknown(registry.organization.reserve(order));
    expect(error.candidates).toMatchObject([{ id: 'res-1' }, { id: 'res-2' }]);
    expect(registry.writes).toHaveLength(1);
  });

  test.each([{ reserver: null }, { createdAt: null }])(
    'is unknown when the only find does not say all of it: %j',
    async change => {
      await using registry = await lossy({ shown: reservations(change) });
      const error = await unknown(registry.organization.reserve(order));
      expect(error.candidates).toMatchObject([{ id: 'res-1' }]);
    },
  );

  test('is unknown when the look-up fails too', async () => {
    await using registry = await lossy({ shown: () => ({}) });
    await unknown(registry.organization.reserve(order));
    expect(registry.writes).toHaveLength(1);
  });

  test('is found by the registry’s clock, however wrong ours is', async () => {
    await using registry = await lossy({ shown: reservations({}) });
    const http = testHttp(registry.http.baseUrl, { now: () => Date.now() + 3_600_000 });
    const token = installationTokenSource();
    const client = createOrganizationClient({ http, organizationId: 'org-1', appId: 'app-1', token });
    await expect(client.reserve(order)).resolves.toMatchObject({ id: 'res-1' });
  });

  test('is never taken for an earlier one of ours', async () => {
    await using registry = await lossy({ shown: reservations({}) });
    await registry.organization.reserve(order);
    const error = await unknown(registry.organization.reserve(order));
    expect(error.candidates).toEqual([]);
    expect(registry.writes).toHaveLength(2);
  });

  test('waits for its twin, so that the two are not confused', async () => {
    const made: World['shown'] = (nowMs, writes) =>
      reservations(...Array.from({ length: writes }, () => ({})))(nowMs, writes);
    await using registry = await lossy({ shown: made });
    const twins = await Promise.all([
      registry.organization.reserve(order),
      registry.organization.reserve(order),
    ]);
    expect(twins.map(({ id }) => id)).toEqual(['res-1', 'res-2']);
  });

  test('that was refused is no unknown outcome', async () => {
    await using registry = await listenLoopback((_request, response) => {
      response.writeHead(409).end('{"statusCode":409,"message":"not enough credits"}');
    });
    const token = installationTokenSource();
    const http = testHttp(registry.url);
    const client = createOrganizationClient({ http, organizationId: 'org-1', appId: 'app-1', token });
    await expect(client.reserve(order)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('that was cancelled on its way is unknown, and nobody waits for it', async () => {
    await using registry = await lossy({ shown: reservations({}), losing: 'silent' });
    const abort = new AbortController();
    const reserving = registry.organization.reserve(order, { signal: abort.signal });
    await expect.poll(() => registry.writes.length).toBe(1);
    abort.abort();
    await unknown(reserving);
    expect(registry.waits).toEqual([]);
  });
});

const heldAs =
  (change: object): World['shown'] =>
  nowMs => ({ [`${RESERVATIONS}/res-1`]: held(nowMs, change) });

describe('T45 an end of a reservation whose answer is lost', () => {
  test.each([{ isComplete: true }, { state: 'Finished' }])('finish: found as %j', async change => {
    await using registry = await lossy({ shown: heldAs(change) });
    const finishing = registry.organization.finishReservation('res-1', 'transfer', { receiverId: 'org-2' });
    await expect(finishing).resolves.toMatchObject({ id: 'res-1' });
    expect(registry.writes).toEqual([`POST ${RESERVATIONS}/res-1/transfer`]);
  });

  test('finish: not finished yet, so it is unknown', async () => {
    await using registry = await lossy({ shown: heldAs({ isComplete: false }) });
    const error = await unknown(registry.organization.finishReservation('res-1', 'transfer', {}));
    expect(error.candidates).toMatchObject([{ id: 'res-1' }]);
    expect(registry.waits).toEqual([1_000, 4_000]);
    expect(registry.writes).toHaveLength(1);
  });

  test('cancel: found as cancelled', async () => {
    await using registry = await lossy({ shown: heldAs({ state: 'cancelled' }) });
    await expect(registry.organization.cancelReservation('res-1')).resolves.toMatchObject({
      state: 'cancelled',
    });
    expect(registry.writes).toEqual([`DELETE ${RESERVATIONS}/res-1`]);
  });

  test.each([heldAs({ state: 'outstanding' }), () => ({})])(
    'cancel: anything else is unknown',
    async shown => {
      await using registry = await lossy({ shown });
      await unknown(registry.organization.cancelReservation('res-1'));
      expect(registry.writes).toHaveLength(1);
    },
  );

  test('an answer that is no reservation is not lost: the registry took it', async () => {
    await using registry = await lossy({ shown: heldAs({ state: 'outstanding' }), losing: 'empty' });
    await expect(registry.organization.cancelReservation('res-1')).resolves.toMatchObject({ id: 'res-1' });
    await using silent = await lossy({ shown: () => ({}), losing: 'empty' });
    await expect(silent.organization.cancelReservation('res-1')).resolves.toBeNull();
  });
});

const made = (nowMs: number, change: object) => ({
  id: 'req-1',
  creditId: 'credit-1',
  amount: 2.5,
  action: 'retire',
  createdAt: at(nowMs),
  ...change,
});

describe('T45 an inventory request whose answer is lost', () => {
  const path = '/organizations/org-1/inventory/requests';
  const requests =
    (...changes: object[]): World['shown'] =>
    nowMs => ({
      [path]: listed(
        'creditRequests',
        changes.map((change, index) => made(nowMs, { id: `req-${index + 1}`, ...change })),
      ),
    });
  const wanted = { ...order, toOrganizationId: 'org-2' };

  test('is found by credit, amount, action and receiver', async () => {
    const others = [
      { action: 'transfer' },
      { amount: 3 },
      { creditId: 'credit-2' },
      { toOrganizationId: 'org-3' },
      { appId: 'app-2' },
      { app: { id: 'app-2' } },
      { createdAt: at(0) },
    ];
    await using registry = await lossy({ shown: requests({ toOrganizationId: 'org-2' }, ...others) });
    const found = registry.organization.requestInventoryAction('retire', wanted);
    await expect(found).resolves.toMatchObject({ id: 'req-1' });
    expect(registry.writes).toEqual([`POST ${path}/retire`]);
  });

  test.each([[[]], [[{}, {}]]])('is unknown otherwise: %j', async changes => {
    await using registry = await lossy({ shown: requests(...changes) });
    await unknown(registry.organization.requestInventoryAction('retire', wanted));
    expect(registry.writes).toHaveLength(1);
  });
});

const installed = (nowMs: number, id: string, fullName: string) => ({
  id,
  createdAt: at(nowMs),
  organization: { id: `org-of-${id}`, fullName },
});

describe('T45 a creation whose answer is lost', () => {
  const wanted = { user: { email: 'a@b.is' }, organization: { fullName: 'Fjord', type: 'other' } };

  test('is found among the installations by the organization’s name', async () => {
    await using registry = await lossy({
      shown: nowMs => ({
        '/app/installations': listed('installations', [
          installed(nowMs, 'i-1', 'Fjord'),
          installed(nowMs, 'i-2', 'Other'),
          installed(nowMs - 60_000, 'i-3', 'Fjord'),
        ]),
      }),
    });
    const found = await registry.app.createUserAndOrganization(wanted);
    expect(found).toMatchObject({
      user: null,
      organization: { id: 'org-of-i-1' },
      installation: { id: 'i-1' },
    });
    expect(registry.writes).toEqual(['POST /app/create/user/organization']);
  });

  test('is unknown otherwise', async () => {
    await using registry = await lossy({
      shown: () => ({ '/app/installations': listed('installations', []) }),
    });
    await unknown(registry.app.createUserAndOrganization(wanted));
    expect(registry.writes).toHaveLength(1);
  });
});

test.each<Losing>(['cut', 'html', 'error'])(
  'T45 friendbot (%s) is a GET that is never repeated',
  async losing => {
    await using registry = await lossy({ shown: () => ({}), losing });
    await unknown(registry.token.friendbot('org-1'));
    expect(registry.writes).toEqual(['GET /organizations/org-1/friendbot']);
  },
);

test('minting and revoking may be repeated', async () => {
  const seen: string[] = [];
  await using registry = await listenLoopback((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    if (seen.length % 2 === 1) request.socket.destroy();
    else response.end('{"token":"crs_1","expiresAt":"2030-01-01T00:00:00Z"}');
  });
  const http = testHttp(registry.url);
  const token = appTokenSource();
  await createAppClient({ http, token: jwtSource() }).createInstallationToken('inst-1');
  await createTokenClient({ http, token }).revokeToken();
  expect(seen).toHaveLength(4);
  expect(token.refused).toEqual(['crs_app']);
});

test('a token that is dead already is not renewed only to be revoked', async () => {
  let calls = 0;
  await using registry = await listenLoopback((_request, response) => {
    calls += 1;
    response.writeHead(401).end('{}');
  });
  const revoking = createTokenClient({ http: testHttp(registry.url), token: appTokenSource() }).revokeToken();
  await expect(revoking).rejects.toMatchObject({ code: 'unauthorized' });
  expect(calls).toBe(1);
});

test('amounts go out digit for digit', async () => {
  const bodies: string[] = [];
  await using registry = await listenLoopback((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      bodies.push(text);
      response.end(JSON.stringify(held(Date.now())));
    });
  });
  const token = installationTokenSource();
  const http = testHttp(registry.url);
  const client = createOrganizationClient({ http, organizationId: 'org-1', appId: 'app-1', token });
  await client.reserve({ creditId: 'credit-1', amount: '9007199254740993.123456789012345678' });
  expect(bodies).toEqual(['{"amount":9007199254740993.123456789012345678,"creditId":"credit-1"}']);
});
