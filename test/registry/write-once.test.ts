import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
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

/** How the answer to a write is lost. */
type AnswerLoss = 'cut' | 'silent' | 'html' | 'empty' | 'error';

interface LossyRegistryOptions {
  /** Returns the answers of the registry after the write, by path. */
  readonly createAnswers: (nowMs: number, writes: number) => Record<string, unknown>;
  readonly answerLoss?: AnswerLoss;
}

const LOSSES: Record<AnswerLoss, (request: IncomingMessage, response: ServerResponse) => void> = {
  cut: request => request.socket.destroy(),
  silent: () => undefined,
  html: (_request, response) => response.end('<html>'),
  empty: (_request, response) => response.end(),
  error: (_request, response) => response.writeHead(502).end('{}'),
};

/** Starts a registry that carries out every write and loses its answer. */
async function startLossyRegistry({ createAnswers, answerLoss = 'cut' }: LossyRegistryOptions) {
  const writes: string[] = [];
  const waits: number[] = [];
  const loopback = await startLoopbackServer((request, response) => {
    const path = request.url ?? '';
    if (request.method === 'GET' && !path.endsWith('/friendbot')) {
      const answer = createAnswers(Date.now(), writes.length)[path.split('?')[0] ?? ''];
      const missing = { statusCode: 404, message: 'Not found' };
      response.writeHead(answer === undefined ? 404 : 200).end(JSON.stringify(answer ?? missing));
      return;
    }
    writes.push(`${request.method} ${path}`);
    request.resume().on('end', () => LOSSES[answerLoss](request, response));
  });
  const http = createTestHttpClient(loopback.url, {
    deadlineMs: answerLoss === 'silent' ? 200 : 5_000,
    sleep: async ms => {
      waits.push(ms);
    },
  });
  const token = createInstallationTokenSource();
  return {
    writes,
    waits,
    http,
    organization: createOrganizationClient({ http, organizationId: 'org-1', appId: 'app-1', token }),
    app: createAppClient({ http, token: createJwtSource() }),
    token: createTokenClient({ http, token: createAppTokenSource() }),
    [Symbol.asyncDispose]: () => loopback[Symbol.asyncDispose](),
  };
}

/** Returns the `outcome_unknown` error of a write that must fail with it. */
async function getUnknownOutcome(work: Promise<unknown>): Promise<RegistryError> {
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
const toIso = (ms: number) => new Date(ms).toISOString();
const createListAnswer = (key: string, items: readonly unknown[]) => ({
  [key]: items,
  pagination: { total: items.length, nextPage: null },
});
const createReservation = (nowMs: number, change: object = {}) => ({
  id: 'res-1',
  creditId: 'credit-1',
  amount: 2.5,
  createdAt: toIso(nowMs),
  reserver: { id: 'app-1' },
  ...change,
});
const showReservations =
  (...changes: object[]): LossyRegistryOptions['createAnswers'] =>
  nowMs => ({
    [RESERVATIONS]: createListAnswer(
      'reservations',
      changes.map((change, index) => createReservation(nowMs, { id: `res-${index + 1}`, ...change })),
    ),
  });
const order = { creditId: 'credit-1', amount: '2.50' };

describe('T45 a reserve whose answer is lost', () => {
  test.each<AnswerLoss>(['cut', 'silent', 'html', 'empty', 'error'])(
    '(%s) is sent once and found by app, credit and amount',
    async answerLoss => {
      const others = [
        { reserver: { id: 'app-2' } },
        { creditId: 'credit-2' },
        { amount: 2.51 },
        { createdAt: toIso(Date.now() - 60_000) },
      ];
      await using registry = await startLossyRegistry({
        createAnswers: showReservations({}, ...others),
        answerLoss: answerLoss,
      });
      await expect(registry.organization.reserve(order)).resolves.toMatchObject({ id: 'res-1' });
      expect(registry.writes).toEqual([`POST ${RESERVATIONS}`]);
    },
  );

  test('ends as outcome_unknown if three look-ups find none', async () => {
    await using registry = await startLossyRegistry({ createAnswers: showReservations() });
    const error = await getUnknownOutcome(registry.organization.reserve(order));
    expect(error.candidates).toEqual([]);
    expect(error.cause).toMatchObject({ code: 'unavailable' });
    expect(registry.waits).toEqual([1_000, 4_000]);
    expect(registry.writes).toHaveLength(1);
  });

  test('ends as outcome_unknown if two are found, and the error has both', async () => {
    await using registry = await startLossyRegistry({ createAnswers: showReservations({}, {}) });
    const error = await getUnknownOutcome(registry.organization.reserve(order));
    expect(error.candidates).toMatchObject([{ id: 'res-1' }, { id: 'res-2' }]);
    expect(registry.writes).toHaveLength(1);
  });

  test.each([{ reserver: null }, { createdAt: null }])(
    'ends as outcome_unknown if the only one found lacks a field: %j',
    async change => {
      await using registry = await startLossyRegistry({ createAnswers: showReservations(change) });
      const error = await getUnknownOutcome(registry.organization.reserve(order));
      expect(error.candidates).toMatchObject([{ id: 'res-1' }]);
    },
  );

  test('ends as outcome_unknown if the look-ups fail too', async () => {
    await using registry = await startLossyRegistry({ createAnswers: () => ({}) });
    await getUnknownOutcome(registry.organization.reserve(order));
    expect(registry.writes).toHaveLength(1);
  });

  test('is found by the registry’s clock, however wrong the local one is', async () => {
    await using registry = await startLossyRegistry({ createAnswers: showReservations({}) });
    const http = createTestHttpClient(registry.http.baseUrl, { now: () => Date.now() + 3_600_000 });
    const token = createInstallationTokenSource();
    const client = createOrganizationClient({ http, organizationId: 'org-1', appId: 'app-1', token });
    await expect(client.reserve(order)).resolves.toMatchObject({ id: 'res-1' });
  });

  test('is never mistaken for an earlier reserve of the same client', async () => {
    await using registry = await startLossyRegistry({ createAnswers: showReservations({}) });
    await registry.organization.reserve(order);
    const error = await getUnknownOutcome(registry.organization.reserve(order));
    expect(error.candidates).toEqual([]);
    expect(registry.writes).toHaveLength(2);
  });

  test('waits for an identical reserve, so that the two are not mistaken for each other', async () => {
    const showReservationsMade: LossyRegistryOptions['createAnswers'] = (nowMs, writes) =>
      showReservations(...Array.from({ length: writes }, () => ({})))(nowMs, writes);
    await using registry = await startLossyRegistry({ createAnswers: showReservationsMade });
    const twins = await Promise.all([
      registry.organization.reserve(order),
      registry.organization.reserve(order),
    ]);
    expect(twins.map(({ id }) => id)).toEqual(['res-1', 'res-2']);
  });

  test('fails with the refusal if the registry sent one', async () => {
    await using registry = await startLoopbackServer((_request, response) => {
      response.writeHead(409).end('{"statusCode":409,"message":"not enough credits"}');
    });
    const token = createInstallationTokenSource();
    const http = createTestHttpClient(registry.url);
    const client = createOrganizationClient({ http, organizationId: 'org-1', appId: 'app-1', token });
    await expect(client.reserve(order)).rejects.toMatchObject({ code: 'conflict' });
  });

  test('ends as outcome_unknown at once if it is cancelled after it was sent', async () => {
    await using registry = await startLossyRegistry({
      createAnswers: showReservations({}),
      answerLoss: 'silent',
    });
    const abort = new AbortController();
    const reserving = registry.organization.reserve(order, { signal: abort.signal });
    await expect.poll(() => registry.writes.length).toBe(1);
    abort.abort();
    await getUnknownOutcome(reserving);
    expect(registry.waits).toEqual([]);
  });
});

const heldAs =
  (change: object): LossyRegistryOptions['createAnswers'] =>
  nowMs => ({ [`${RESERVATIONS}/res-1`]: createReservation(nowMs, change) });

describe('T45 the end of a reservation whose answer is lost', () => {
  test.each([{ isComplete: true }, { state: 'Finished' }])(
    'is found as a finished reservation by %j',
    async change => {
      await using registry = await startLossyRegistry({ createAnswers: heldAs(change) });
      const finishing = registry.organization.finishReservation('res-1', 'transfer', { receiverId: 'org-2' });
      await expect(finishing).resolves.toMatchObject({ id: 'res-1' });
      expect(registry.writes).toEqual([`POST ${RESERVATIONS}/res-1/transfer`]);
    },
  );

  test('ends as outcome_unknown if the reservation is not finished', async () => {
    await using registry = await startLossyRegistry({ createAnswers: heldAs({ isComplete: false }) });
    const error = await getUnknownOutcome(registry.organization.finishReservation('res-1', 'transfer', {}));
    expect(error.candidates).toMatchObject([{ id: 'res-1' }]);
    expect(registry.waits).toEqual([1_000, 4_000]);
    expect(registry.writes).toHaveLength(1);
  });

  test('is found as a cancelled reservation', async () => {
    await using registry = await startLossyRegistry({ createAnswers: heldAs({ state: 'cancelled' }) });
    await expect(registry.organization.cancelReservation('res-1')).resolves.toMatchObject({
      state: 'cancelled',
    });
    expect(registry.writes).toEqual([`DELETE ${RESERVATIONS}/res-1`]);
  });

  test.each([heldAs({ state: 'outstanding' }), () => ({})])(
    'ends as outcome_unknown if the reservation is not cancelled',
    async shown => {
      await using registry = await startLossyRegistry({ createAnswers: shown });
      await getUnknownOutcome(registry.organization.cancelReservation('res-1'));
      expect(registry.writes).toHaveLength(1);
    },
  );

  test('succeeds if the answer is not a reservation, because the registry accepted the request', async () => {
    await using registry = await startLossyRegistry({
      createAnswers: heldAs({ state: 'outstanding' }),
      answerLoss: 'empty',
    });
    await expect(registry.organization.cancelReservation('res-1')).resolves.toMatchObject({ id: 'res-1' });
    await using silent = await startLossyRegistry({ createAnswers: () => ({}), answerLoss: 'empty' });
    await expect(silent.organization.cancelReservation('res-1')).resolves.toBeNull();
  });
});

const createInventoryRequest = (nowMs: number, change: object) => ({
  id: 'req-1',
  creditId: 'credit-1',
  amount: 2.5,
  action: 'retire',
  createdAt: toIso(nowMs),
  ...change,
});

describe('T45 an inventory request whose answer is lost', () => {
  const path = '/organizations/org-1/inventory/requests';
  const requests =
    (...changes: object[]): LossyRegistryOptions['createAnswers'] =>
    nowMs => ({
      [path]: createListAnswer(
        'creditRequests',
        changes.map((change, index) => createInventoryRequest(nowMs, { id: `req-${index + 1}`, ...change })),
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
      { createdAt: toIso(0) },
    ];
    await using registry = await startLossyRegistry({
      createAnswers: requests({ toOrganizationId: 'org-2' }, ...others),
    });
    const found = registry.organization.requestInventoryAction('retire', wanted);
    await expect(found).resolves.toMatchObject({ id: 'req-1' });
    expect(registry.writes).toEqual([`POST ${path}/retire`]);
  });

  test.each([[[]], [[{}, {}]]])('ends as outcome_unknown if the found requests are %j', async changes => {
    await using registry = await startLossyRegistry({ createAnswers: requests(...changes) });
    await getUnknownOutcome(registry.organization.requestInventoryAction('retire', wanted));
    expect(registry.writes).toHaveLength(1);
  });
});

const createInstallation = (nowMs: number, id: string, fullName: string) => ({
  id,
  createdAt: toIso(nowMs),
  organization: { id: `org-of-${id}`, fullName },
});

describe('T45 a created organization whose answer is lost', () => {
  const wanted = { user: { email: 'a@b.is' }, organization: { fullName: 'Fjord', type: 'other' } };

  test('is found among the installations by the organization’s name', async () => {
    await using registry = await startLossyRegistry({
      createAnswers: nowMs => ({
        '/app/installations': createListAnswer('installations', [
          createInstallation(nowMs, 'i-1', 'Fjord'),
          createInstallation(nowMs, 'i-2', 'Other'),
          createInstallation(nowMs - 60_000, 'i-3', 'Fjord'),
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

  test('ends as outcome_unknown if none is found', async () => {
    await using registry = await startLossyRegistry({
      createAnswers: () => ({ '/app/installations': createListAnswer('installations', []) }),
    });
    await getUnknownOutcome(registry.app.createUserAndOrganization(wanted));
    expect(registry.writes).toHaveLength(1);
  });
});

test.each<AnswerLoss>(['cut', 'html', 'error'])(
  'T45 friendbot (%s) is a GET that is never repeated',
  async losing => {
    await using registry = await startLossyRegistry({ createAnswers: () => ({}), answerLoss: losing });
    await getUnknownOutcome(registry.token.friendbot('org-1'));
    expect(registry.writes).toEqual(['GET /organizations/org-1/friendbot']);
  },
);

test('requests to create and to revoke a token are retried', async () => {
  const seen: string[] = [];
  await using registry = await startLoopbackServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    if (seen.length % 2 === 1) request.socket.destroy();
    else response.end('{"token":"crs_1","expiresAt":"2030-01-01T00:00:00Z"}');
  });
  const http = createTestHttpClient(registry.url);
  const token = createAppTokenSource();
  await createAppClient({ http, token: createJwtSource() }).createInstallationToken('inst-1');
  await createTokenClient({ http, token }).revokeToken();
  expect(seen).toHaveLength(4);
  expect(token.refused).toEqual(['crs_app']);
});

test('an expired token is not renewed just to be revoked', async () => {
  let calls = 0;
  await using registry = await startLoopbackServer((_request, response) => {
    calls += 1;
    response.writeHead(401).end('{}');
  });
  const revoking = createTokenClient({
    http: createTestHttpClient(registry.url),
    token: createAppTokenSource(),
  }).revokeToken();
  await expect(revoking).rejects.toMatchObject({ code: 'unauthorized' });
  expect(calls).toBe(1);
});

test('amounts are sent digit for digit', async () => {
  const bodies: string[] = [];
  await using registry = await startLoopbackServer((request, response) => {
    let text = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => {
      text += part;
    });
    request.on('end', () => {
      bodies.push(text);
      response.end(JSON.stringify(createReservation(Date.now())));
    });
  });
  const token = createInstallationTokenSource();
  const http = createTestHttpClient(registry.url);
  const client = createOrganizationClient({ http, organizationId: 'org-1', appId: 'app-1', token });
  await client.reserve({ creditId: 'credit-1', amount: '9007199254740993.123456789012345678' });
  expect(bodies).toEqual(['{"amount":9007199254740993.123456789012345678,"creditId":"credit-1"}']);
});
