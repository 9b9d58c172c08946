import type { IncomingMessage } from 'node:http';
import { describe, expect, test } from 'vitest';
import { RegistryError } from '../../src/registry/errors.js';
import type { HttpOptions } from '../../src/registry/http/http-types.js';
import { createOrganizationClient } from '../../src/registry/organization-client.js';
import { createTokenClient } from '../../src/registry/token-client.js';
import {
  createAppTokenSource,
  createTestClients,
  createTestHttpClient,
  startLoopbackServer,
  type TestClients,
} from '../support/registry-client.js';

/** An answer of the registry: text as it is, an object as JSON, null for a cut connection, undefined for silence. */
type Reply = string | object | null | undefined;

/** How the answer to a write may be lost. */
const LOSSES = {
  cut: null,
  silent: undefined,
  html: '<html>',
  empty: '',
  error: { statusCode: 502 },
} as const;
type Loss = keyof typeof LOSSES;

/** Starts a registry that answers with `reply`, and records requests, bodies and waits. */
async function startRegistry(
  reply: (request: IncomingMessage, count: number) => Reply,
  options: Partial<HttpOptions> = {},
) {
  const seen: string[] = [];
  const bodies: string[] = [];
  const waits: number[] = [];
  const { url } = await startLoopbackServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    const count = seen.length;
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      bodies.push(body);
      const answer = reply(request, count);
      if (answer === null) request.socket.destroy();
      if (answer === null || answer === undefined) return;
      const status = Number(Object(answer)['statusCode'] ?? 200);
      response.writeHead(status).end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    });
  });
  const sleep = async (ms: number) => {
    waits.push(ms);
  };
  return { ...createTestClients(url, { sleep, ...options }), url, seen, bodies, waits };
}

/** The answers to reads, by path. A path without an answer is not found. */
type RowAt = (nowMs: number) => Readonly<Record<string, unknown>>;

/** Starts a registry that carries out every write, loses its answer, and then shows these objects. */
async function startLossyRegistry(shown: RowAt, loss: Loss = 'cut') {
  const isWrite = ({ method, url = '' }: IncomingMessage) => method !== 'GET' || url.endsWith('/friendbot');
  const registry = await startRegistry(
    request => {
      if (isWrite(request)) return LOSSES[loss];
      const answer = shown(Date.now())[request.url?.split('?')[0] ?? ''];
      return Object(answer ?? { statusCode: 404, message: 'Not found' });
    },
    { deadlineMs: loss === 'silent' ? 200 : 5_000 },
  );
  const listWrites = () =>
    registry.seen.filter(line => !line.startsWith('GET') || line.endsWith('/friendbot'));
  return { ...registry, listWrites };
}

const RESERVATIONS = '/organizations/org-1/warehouse/inventory/reservations';
const REQUESTS = '/organizations/org-1/inventory/requests';
const order = { creditId: 'credit-1', amount: '2.50' };
const longAgo = () => new Date(Date.now() - 60_000).toISOString();

const createReservation = (change: object = {}, nowMs = Date.now()) => ({
  id: 'res-1',
  creditId: 'credit-1',
  amount: 2.5,
  createdAt: new Date(nowMs).toISOString(),
  reserver: { id: 'app-1' },
  ...change,
});

/** Shows a list of objects that were made now, with the ids `PREFIX-1`, `PREFIX-2` and so on. */
function showList(path: string, key: string, prefix: string, changes: readonly object[]): RowAt {
  return nowMs => ({
    [path]: {
      [key]: changes.map((change, index) =>
        createReservation({ id: `${prefix}-${index + 1}`, ...change }, nowMs),
      ),
      pagination: { total: changes.length, nextPage: null },
    },
  });
}

const showReservations = (...changes: object[]) => showList(RESERVATIONS, 'reservations', 'res', changes);
const showReservation =
  (change: object): RowAt =>
  nowMs => ({ [`${RESERVATIONS}/res-1`]: createReservation(change, nowMs) });
const showRequests = (...changes: object[]) =>
  showList(
    REQUESTS,
    'creditRequests',
    'req',
    changes.map(change => ({ action: 'retire', reserver: undefined, ...change })),
  );
const showInstallations = (...changes: object[]) =>
  showList('/app/installations', 'installations', 'i', changes);

const reserve = ({ organization }: TestClients) => organization.reserve(order);
const finish = ({ organization }: TestClients) =>
  organization.finishReservation('res-1', 'transfer', { receiverId: 'org-2' });
const cancel = ({ organization }: TestClients) => organization.cancelReservation('res-1');
const requestRetirement = ({ organization }: TestClients) =>
  organization.requestInventoryAction('retire', { ...order, toOrganizationId: 'org-2' });
const create = ({ app }: TestClients) =>
  app.createUserAndOrganization({
    user: { email: 'a@b.is' },
    organization: { fullName: 'Fjord', type: 'other' },
  });
const friendbot = ({ token }: TestClients) => token.friendbot('org-1');

describe('T45 a write whose answer is lost is sent once and found', () => {
  const MINE = { organization: { id: 'org-of-1', fullName: 'Fjord' } };

  test.each<[string, (clients: TestClients) => Promise<unknown>, RowAt, Loss, string, object]>([
    ...(['cut', 'silent', 'html', 'empty', 'error'] as const).map(
      (loss): [string, typeof reserve, RowAt, Loss, string, object] => [
        `a reserve (${loss}), by app, credit, amount and time`,
        reserve,
        showReservations(
          {},
          { reserver: { id: 'app-2' } },
          { creditId: 'credit-2' },
          { amount: 2.51 },
          { createdAt: longAgo() },
        ),
        loss,
        `POST ${RESERVATIONS}`,
        { id: 'res-1' },
      ],
    ),
    [
      'a finish, by the completed reservation',
      finish,
      showReservation({ isComplete: true }),
      'cut',
      `POST ${RESERVATIONS}/res-1/transfer`,
      { id: 'res-1' },
    ],
    [
      'a finish, by the state of the reservation',
      finish,
      showReservation({ state: 'Finished' }),
      'cut',
      `POST ${RESERVATIONS}/res-1/transfer`,
      { id: 'res-1' },
    ],
    [
      'a cancel, by the state of the reservation',
      cancel,
      showReservation({ state: 'cancelled' }),
      'cut',
      `DELETE ${RESERVATIONS}/res-1`,
      { state: 'cancelled' },
    ],
    [
      'a cancel whose answer is empty, because the registry accepted it',
      cancel,
      showReservation({ state: 'outstanding' }),
      'empty',
      `DELETE ${RESERVATIONS}/res-1`,
      { id: 'res-1' },
    ],
    [
      'an inventory request, by credit, amount, action, receiver, app and time',
      requestRetirement,
      showRequests(
        { toOrganizationId: 'org-2' },
        { action: 'transfer' },
        { amount: 3 },
        { creditId: 'credit-2' },
        { toOrganizationId: 'org-3' },
        { appId: 'app-2' },
        { app: { id: 'app-2' } },
        { createdAt: longAgo() },
      ),
      'cut',
      `POST ${REQUESTS}/retire`,
      { id: 'req-1' },
    ],
    [
      'a created organization, by its name and time among the installations',
      create,
      showInstallations(
        MINE,
        { organization: { id: 'org-of-2', fullName: 'Other' } },
        { ...MINE, createdAt: longAgo() },
      ),
      'cut',
      'POST /app/create/user/organization',
      { user: null, organization: { id: 'org-of-1' }, installation: { id: 'i-1' } },
    ],
  ])('%s', async (_title, write, shown, loss, sent, found) => {
    const registry = await startLossyRegistry(shown, loss);
    await expect(write(registry)).resolves.toMatchObject(found);
    expect(registry.listWrites()).toEqual([sent]);
  });

  test('also if the cancelled reservation cannot be read', async () => {
    const registry = await startLossyRegistry(() => ({}), 'empty');
    await expect(cancel(registry)).resolves.toBeNull();
  });

  test('by the registry’s clock, however wrong the local one is', async () => {
    const { url } = await startLossyRegistry(showReservations({}));
    const clients = createTestClients(url, { now: () => Date.now() + 3_600_000 });
    await expect(reserve(clients)).resolves.toMatchObject({ id: 'res-1' });
  });

  test('once, even if its row moves to the next page during the look-up', async () => {
    const pages = [
      [createReservation({ id: 'a', amount: 1 }), createReservation()],
      [createReservation(), createReservation({ id: 'b', amount: 1 })],
    ];
    const registry = await startRegistry(({ method, url }) => {
      const page = Number(/page=(\d+)/.exec(url ?? '')?.[1]);
      const pagination = { total: 3, pageCount: 2, nextPage: page === 0 ? 1 : null };
      return method === 'GET' ? { pagination, reservations: pages[page] } : null;
    });
    await expect(reserve(registry)).resolves.toMatchObject({ id: 'res-1' });
  });

  test('as its own, though two callers reserve equal amounts that are written differently', async () => {
    const reservations: object[] = [];
    const registry = await startRegistry(({ method }) => {
      if (method === 'GET')
        return { pagination: { total: reservations.length, nextPage: null }, reservations };
      reservations.push(createReservation({ id: `res-${reservations.length + 1}` }));
      return reservations.length === 1 ? null : reservations.at(-1);
    });
    const { organization, seen } = registry;
    const both = await Promise.all([
      organization.reserve({ creditId: 'credit-1', amount: '2.5' }),
      organization.reserve({ creditId: 'credit-1', amount: '2.50' }),
    ]);
    expect(both.map(({ id }) => id)).toEqual(['res-1', 'res-2']);
    expect(seen.map(line => line.split(' ')[0])).toEqual(['POST', 'GET', 'POST']);
  });
});

describe('T45 the outcome of a write whose answer is lost is unknown', () => {
  const UNDECIDED: readonly [string, (clients: TestClients) => Promise<unknown>, RowAt, string[]][] = [
    ['if no reservation is found', reserve, showReservations(), []],
    ['if two reservations are found', reserve, showReservations({}, {}), ['res-1', 'res-2']],
    ['if the only reservation found names no app', reserve, showReservations({ reserver: null }), ['res-1']],
    ['if the only reservation found has no date', reserve, showReservations({ createdAt: null }), ['res-1']],
    ['if the look-up of a reservation fails', reserve, () => ({}), []],
    ['if the reservation is not finished', finish, showReservation({ isComplete: false }), ['res-1']],
    ['if the reservation is not cancelled', cancel, showReservation({ state: 'outstanding' }), ['res-1']],
    ['if the reservation cannot be read', cancel, () => ({}), []],
    ['if no inventory request is found', requestRetirement, showRequests(), []],
    ['if two inventory requests are found', requestRetirement, showRequests({}, {}), ['req-1', 'req-2']],
    ['if no installation is found', create, showInstallations(), []],
  ];

  test.each(UNDECIDED)('%s', async (_title, write, shown, candidates) => {
    const registry = await startLossyRegistry(shown);
    const error: unknown = await write(registry).catch((reason: unknown) => reason);
    const cause = expect.objectContaining({ code: 'unavailable' });
    expect(error).toMatchObject({
      code: 'outcome_unknown',
      cause,
      candidates: candidates.map(id => ({ id })),
    });
    expect(registry.waits).toEqual(candidates.length > 1 ? [] : [1_000, 4_000]);
    expect(registry.listWrites()).toHaveLength(1);
  });

  test.each<Loss>(['cut', 'html', 'error'])(
    'if it was a deposit (%s), which cannot be looked up',
    async loss => {
      const registry = await startLossyRegistry(() => ({}), loss);
      await expect(friendbot(registry)).rejects.toMatchObject({ code: 'outcome_unknown' });
      expect(registry.seen).toEqual(['GET /organizations/org-1/friendbot']);
      expect(registry.waits).toEqual([]);
    },
  );

  test('if the answer is an HTML page and the reservation is still outstanding', async () => {
    const registry = await startLossyRegistry(showReservation({ isComplete: false }), 'html');
    await expect(finish(registry)).rejects.toMatchObject({ code: 'outcome_unknown' });
  });

  test('if the list was not read to its end', async () => {
    const others = Array.from({ length: 3 }, (_, index) =>
      createReservation({ id: `old-${index}`, amount: 1 }),
    );
    const registry = await startRegistry(({ method, url }) => {
      const nextPage = Number(/page=(\d+)/.exec(url ?? '')?.[1]) + 1;
      const reservations = [createReservation(), ...others];
      return method === 'GET' ? { pagination: { total: 900, nextPage }, reservations } : null;
    });
    const candidates = [{ id: 'res-1' }];
    await expect(reserve(registry)).rejects.toMatchObject({ code: 'outcome_unknown', candidates });
  });

  test('if only the reservation of an earlier call is found', async () => {
    const registry = await startLossyRegistry(showReservations({}));
    await reserve(registry);
    await expect(reserve(registry)).rejects.toMatchObject({ code: 'outcome_unknown', candidates: [] });
    expect(registry.listWrites()).toHaveLength(2);
  });

  test('at once if it is cancelled after it was sent', async () => {
    const { organization, waits, listWrites } = await startLossyRegistry(showReservations({}), 'silent');
    const abort = new AbortController();
    const reserving = organization.reserve(order, { signal: abort.signal });
    await expect.poll(() => listWrites().length).toBe(1);
    abort.abort();
    await expect(reserving).rejects.toMatchObject({ code: 'outcome_unknown' });
    expect(waits).toEqual([]);
  });
});

test('T45 a write for which no token was issued was not sent, so its outcome is known', async () => {
  const { http, seen, waits } = await startRegistry(() => createReservation());
  const lost = new RegistryError('timeout', 'no token in time', { mayHaveHappened: true, status: 504 });
  const token = { get: () => Promise.reject(lost), discard: () => undefined };
  const client = createOrganizationClient({ http, organizationId: 'org-1', appId: 'app-1', token });
  const known = { code: 'timeout', mayHaveHappened: false, status: 504 };
  await expect(client.reserve(order)).rejects.toMatchObject(known);
  expect([seen, waits]).toEqual([[], []]);
});

test('T45 an accepted finish returns the reservation, not another object with an id', async () => {
  const registry = await startRegistry(({ method }) =>
    method === 'GET' ? createReservation({ isComplete: true }) : createReservation({ id: 'transaction-9' }),
  );
  await expect(finish(registry)).resolves.toMatchObject({ id: 'res-1', isComplete: true });
});

test.each(['', '{}', '{"ok":true}', '[]'])('a deposit is confirmed by the answer %j', async answer => {
  const registry = await startRegistry(() => answer);
  await expect(friendbot(registry)).resolves.toEqual([]);
  expect(registry.seen).toHaveLength(1);
});

describe('a call that creates or revokes a token', () => {
  test('is sent again if its answer is lost', async () => {
    const token = { token: 'crs_1', expiresAt: '2030-01-01T00:00:00Z' };
    const registry = await startRegistry((_request, count) => (count % 2 === 1 ? null : token));
    await expect(registry.app.createInstallationToken('inst-1')).resolves.toMatchObject({ token: 'crs_1' });
    const source = createAppTokenSource();
    await createTokenClient({ http: registry.http, token: source }).revokeToken();
    expect(registry.seen).toHaveLength(4);
    expect(source.refused).toEqual(['crs_app']);
  });

  test.each([
    ['counts as done if it is refused after a lost answer', [null, { statusCode: 401 }], 'done'],
    ['is not repeated with a new token if it is refused', [{ statusCode: 401 }], 'unauthorized'],
  ])('%s', async (_title, answers: Reply[], outcome) => {
    const registry = await startRegistry((_request, count) => answers[count - 1]);
    const token = createAppTokenSource();
    const client = createTokenClient({ http: createTestHttpClient(registry.url), token });
    const code = await client.revokeToken().then(
      () => 'done',
      (reason: RegistryError) => reason.code,
    );
    expect(code).toBe(outcome);
    expect(registry.seen).toHaveLength(answers.length);
    expect(token.refused).toEqual(['crs_app']);
  });
});

describe('the body of a write', () => {
  test('has its amount digit for digit', async () => {
    const { organization, bodies } = await startRegistry(() => createReservation());
    await organization.reserve({ creditId: 'credit-1', amount: '9007199254740993.123456789012345678' });
    expect(bodies).toEqual(['{"amount":9007199254740993.123456789012345678,"creditId":"credit-1"}']);
  });

  test('keeps its structure whatever the texts of the caller', async () => {
    const { organization, bodies } = await startRegistry(() => createReservation());
    const retirementData = { reason: 'r', json: '1,"receiverId":"org-9"' };
    await organization.finishReservation('res-1', 'retire', { retirementData });
    expect(JSON.parse(bodies[0] ?? '')).toEqual({ retirementData });
  });
});

describe('an answer with another object than requested is refused', () => {
  test.each<[string, (clients: TestClients) => Promise<unknown>]>([
    ['installation', ({ app }) => app.readInstallation('inst-1')],
    ['installation of an organization', ({ app }) => app.readInstallationOf('org-1')],
    ['organization', ({ organization }) => organization.readOrganization()],
    ['reservation', ({ organization }) => organization.readReservation('res-1')],
    ['request', ({ organization }) => organization.readInventoryRequest('req-1')],
    ['retirement', ({ organization }) => organization.readRetirement('ret-1')],
  ])('%s', async (_title, read) => {
    const registry = await startRegistry(() =>
      createReservation({ id: 'other', organization: { id: 'org-9' } }),
    );
    await expect(read(registry)).rejects.toMatchObject({ code: 'bad_answer' });
  });

  test('unless its id differs only in upper and lower case', async () => {
    const { organization } = await startRegistry(() => ({ id: 'ORG-1' }));
    await expect(organization.readOrganization()).resolves.toMatchObject({ id: 'ORG-1' });
  });
});
