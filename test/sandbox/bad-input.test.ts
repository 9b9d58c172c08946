import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Answer,
  callSandbox,
  installApp,
  issueCredit,
  mintToken,
  startSandboxForFile,
  signAppJwt,
} from '../support/sandbox.js';

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const UNKNOWN_ADDRESS = `0x${'0'.repeat(40)}`;
const retirementData = { reason: 'Other', beneficiaryName: 'Ada' };

let before: unknown;

const sandbox = await startSandboxForFile();
const installed = installApp(sandbox);
const ownId = installed.organization.id;
const creditId = issueCredit(sandbox, ownId, { amount: 10 });
sandbox.registry.credits.issue({ organizationId: ownId, creditId, amount: 10 });
const root = `/organizations/${ownId}`;
const queue = `${root}/warehouse/inventory/reservations`;
const reserveCall = { token: installed.token, body: { creditId, amount: 1 } };
const reservationId = (await callSandbox(sandbox, `POST ${queue}`, reserveCall)).body.id;
const paths: Record<string, string> = {
  root,
  queue,
  held: `${queue}/${reservationId}`,
  requests: `${root}/inventory/requests`,
};

/** Returns all data that a refused call must not change. */
function readAllData(): unknown {
  const { tokens: _, settings: _clock, ...tables } = sandbox.registry.store.tables;
  return Object.values(tables).map(table => table.list());
}

beforeEach(() => {
  before = readAllData();
});
afterEach(() => {
  expect(readAllData()).toEqual(before);
});

function expectRefusal({ status, body }: Answer, expected: number): void {
  expect(status).toBe(expected);
  expect(body).toMatchObject({ statusCode: expected, error: expect.any(String) });
  const texts = Array.isArray(body.message) ? body.message : [body.message];
  expect(texts.length).toBeGreaterThan(0);
  for (const text of texts) expect(text).toMatch(/\w/);
}

async function post(path: string, body: unknown): Promise<Answer> {
  return callSandbox(sandbox, `POST ${path}`, { token: installed.token, body });
}

const BAD_AMOUNTS: readonly [string, unknown][] = [
  ['zero', 0],
  ['negative', -1],
  ['a text', '1'],
  ['null', null],
  ['absent', undefined],
  ['an object', {}],
  ['a list', [1]],
  ['true', true],
  ['finer than a millionth', 0.0000001],
  ['absurd', 1e300],
];

describe('POST reserve credits refuses', () => {
  test.each(BAD_AMOUNTS)('an amount that is %s', async (_, amount) => {
    expectRefusal(await post(paths['queue'] ?? '', { creditId, amount }), 400);
  });

  test('an amount that is not a JSON number', async () => {
    for (const text of ['NaN', 'Infinity', '1e999', '0x1']) {
      expectRefusal(await post(paths['queue'] ?? '', `{"creditId":"${creditId}","amount":${text}}`), 400);
    }
  });

  test('more than is available', async () => {
    expectRefusal(await post(paths['queue'] ?? '', { creditId, amount: 9.000001 }), 409);
  });

  test.each([1, null, {}, [], true, undefined])('a creditId of %j', async wrong => {
    expectRefusal(await post(paths['queue'] ?? '', { creditId: wrong, amount: 1 }), 400);
  });

  test('an unknown creditId', async () => {
    for (const wrong of ['', 'nope', '../x', "' or 1=1 --"]) {
      expectRefusal(await post(paths['queue'] ?? '', { creditId: wrong, amount: 1 }), 404);
    }
  });

  test('several problems in one answer', async () => {
    const answer = await post(paths['queue'] ?? '', {});
    expectRefusal(answer, 400);
    expect(answer.body.message).toHaveLength(2);
  });
});

const BODIES: readonly [string, string][] = [
  ['invalid JSON', '{"amount":'],
  ['an empty text', ''],
  ['a list', '[]'],
  ['a text', '"hello"'],
  ['null', 'null'],
  ['deep nesting', `${'['.repeat(20_000)}${']'.repeat(20_000)}`],
  ['a prototype', '{"__proto__":{"amount":1,"creditId":"x"}}'],
];

describe.each(['queue', 'held', 'requests'])('the body of a POST to %s is refused as', where => {
  test.each(BODIES)('%s', async (_, body) => {
    const suffix = where === 'queue' ? '' : '/retire';
    expectRefusal(await post(`${paths[where]}${suffix}`, body), 400);
  });

  test('too large', async () => {
    const suffix = where === 'queue' ? '' : '/retire';
    expectRefusal(await post(`${paths[where]}${suffix}`, { comment: 'x'.repeat(200_000) }), 413);
  });
});

describe('POST finish reservation refuses', () => {
  test.each(['cancel', 'Transfer', 'retire%20', '%00'])('the unknown action %j', async action => {
    expectRefusal(await post(`${paths['held']}/${action}`, { retirementData }), 400);
  });

  test.each(['transfer', 'transfer_retire'])('%s without a receiver', async action => {
    expectRefusal(await post(`${paths['held']}/${action}`, { retirementData }), 400);
    expectRefusal(await post(`${paths['held']}/${action}`, { retirementData, receiverId: null }), 400);
  });

  test.each(['not-a-uuid', '', 1, {}, `${UNKNOWN}0`])('a receiverId of %j', async receiverId => {
    expectRefusal(await post(`${paths['held']}/transfer`, { receiverId }), 400);
  });

  test.each(['0x12', '0'.repeat(42), `0x${'g'.repeat(40)}`, `0x${'0'.repeat(41)}`, '', 1])(
    'a receiverAddress of %j',
    async receiverAddress => {
      expectRefusal(await post(`${paths['held']}/transfer`, { receiverAddress }), 400);
    },
  );

  test('a receiver that does not exist', async () => {
    expectRefusal(await post(`${paths['held']}/transfer`, { receiverId: UNKNOWN }), 404);
    expectRefusal(await post(`${paths['held']}/transfer`, { receiverAddress: UNKNOWN_ADDRESS }), 404);
  });

  test('an id and an address of different receivers', async () => {
    const addresses = sandbox.registry.store.tables.addresses.list();
    const elsewhere = addresses.find(row => row.organizationId !== installed.organization.id);
    const other = elsewhere?.address ?? UNKNOWN_ADDRESS;
    const answer = await post(`${paths['held']}/transfer`, {
      receiverId: installed.organization.id,
      receiverAddress: other,
    });
    expectRefusal(answer, other === UNKNOWN_ADDRESS ? 404 : 400);
  });

  test.each(['retire', 'transfer_retire'])('%s without retirementData', async action => {
    const receiverId = installed.organization.id;
    for (const wrong of [undefined, null, 'x', [], {}, { reason: 'Other' }, { beneficiaryName: 'Ada' }]) {
      expectRefusal(await post(`${paths['held']}/${action}`, { receiverId, retirementData: wrong }), 400);
    }
  });

  test.each([
    { reason: '', beneficiaryName: 'Ada' },
    { reason: 1, beneficiaryName: 'Ada' },
    { reason: 'Other', beneficiaryName: ' ' },
    { reason: 'Other', beneficiaryName: {} },
    { reason: 'Other', beneficiaryName: 'Ada', comment: 5 },
    { reason: 'x'.repeat(10_001), beneficiaryName: 'Ada' },
  ])('the retirementData %#', async wrong => {
    expectRefusal(await post(`${paths['held']}/retire`, { retirementData: wrong }), 400);
  });

  test('a transferComment that is not a text', async () => {
    const receiverId = installed.organization.id;
    expectRefusal(await post(`${paths['held']}/transfer`, { receiverId, transferComment: 1 }), 400);
  });

  test('an unknown reservation', async () => {
    for (const id of [UNKNOWN, 'nope', '%2e%2e%2f']) {
      expectRefusal(await post(`${paths['queue']}/${id}/retire`, { retirementData }), 404);
    }
  });
});

describe('POST an inventory request refuses', () => {
  test.each(BAD_AMOUNTS)('an amount that is %s', async (_, amount) => {
    expectRefusal(await post(`${paths['requests']}/retire`, { creditId, amount, retirementData }), 400);
  });

  test('more than is available', async () => {
    const body = { creditId, amount: 10.000001, retirementData };
    expectRefusal(await post(`${paths['requests']}/retire`, body), 409);
  });

  test('an unknown action', async () => {
    expectRefusal(await post(`${paths['requests']}/burn`, { creditId, amount: 1, retirementData }), 400);
  });

  test('an unknown creditId', async () => {
    expectRefusal(
      await post(`${paths['requests']}/retire`, { creditId: 'x', amount: 1, retirementData }),
      404,
    );
  });

  test.each(['transfer', 'transfer_retire'])('%s without a target', async action => {
    expectRefusal(await post(`${paths['requests']}/${action}`, { creditId, amount: 1, retirementData }), 400);
  });

  test.each([
    [{ toOrganizationId: 'x' }, 400],
    [{ toOrganizationId: UNKNOWN }, 404],
    [{ toAddress: '0xzz' }, 400],
    [{ toAddress: UNKNOWN_ADDRESS }, 404],
  ])('the target %j', async (target, status) => {
    expectRefusal(await post(`${paths['requests']}/transfer`, { creditId, amount: 1, ...target }), status);
  });

  test.each(['retire', 'transfer_retire'])('%s without retirementData', async action => {
    const toOrganizationId = installed.organization.id;
    const answer = await post(`${paths['requests']}/${action}`, { creditId, amount: 1, toOrganizationId });
    expectRefusal(answer, 400);
  });
});

describe('POST /app/create/user/organization refuses', () => {
  const user = { email: 'ada@people.example', fullName: 'Ada', profilePicture: '' };
  const organization = { fullName: 'Never made', type: 'other', countryCode: 'IS' };

  async function createOrganizationForApp(body: unknown): Promise<Answer> {
    return callSandbox(sandbox, 'POST /app/create/user/organization', {
      token: signAppJwt(sandbox, installed.app),
      body,
    });
  }

  test.each([
    '',
    'ada',
    'ada@',
    '@people.example',
    'ada@people',
    'a da@people.example',
    'a@b@people.example',
    7,
  ])('the e-mail address %j', async email => {
    expectRefusal(await createOrganizationForApp({ user: { ...user, email }, organization }), 400);
  });

  test.each(['is', 'ISL', 'I', '', '12', 5])('the country code %j', async countryCode => {
    expectRefusal(
      await createOrganizationForApp({ user, organization: { ...organization, countryCode } }),
      400,
    );
  });

  test.each(['bank', '', null, undefined, 1])('the type %j', async type => {
    expectRefusal(await createOrganizationForApp({ user, organization: { ...organization, type } }), 400);
  });

  test.each([
    {},
    { user },
    { organization },
    { user: 'ada', organization },
    { user: [], organization },
    { user: { ...user, email: undefined }, organization },
    { user: { ...user, fullName: 1 }, organization },
    { user: { ...user, profilePicture: {} }, organization },
    { user, organization: { ...organization, fullName: '' } },
    { user, organization: { ...organization, fullName: undefined } },
  ])('the body %#', async body => {
    expectRefusal(await createOrganizationForApp(body), 400);
  });

  test('a name or an e-mail address that is in use', async () => {
    const taken = { ...organization, fullName: installed.organization.fullName };
    expectRefusal(await createOrganizationForApp({ user, organization: taken }), 409);
    const [{ email } = { email: '' }] = sandbox.registry.store.tables.users.list();
    expectRefusal(
      await createOrganizationForApp({ user: { ...user, email: email.toUpperCase() }, organization }),
      409,
    );
  });
});

describe('limit and page are refused if given as', () => {
  const bad = ['-1', '1.5', 'x', '', '1e3', '99999999999999999999', ' 1', '0x10', 'NaN'];
  test.each([...bad, '0', '1001'])('limit=%s', async limit => {
    const query = `limit=${encodeURIComponent(limit)}&page=0`;
    for (const path of [
      '/projects',
      `${paths['root']}/retirements`,
      `${paths['queue']}`,
      `${paths['requests']}`,
    ]) {
      expectRefusal(await callSandbox(sandbox, `GET ${path}?${query}`, { token: installed.token }), 400);
    }
  });
  test.each(bad)('page=%s', async page => {
    const query = `limit=10&page=${encodeURIComponent(page)}`;
    expectRefusal(await callSandbox(sandbox, `GET /projects?${query}`, { token: installed.token }), 400);
    const token = signAppJwt(sandbox, installed.app);
    expectRefusal(await callSandbox(sandbox, `GET /app/installations?${query}`, { token }), 400);
  });
  test('two values', async () => {
    expectRefusal(
      await callSandbox(sandbox, 'GET /projects?limit=1&limit=2', { token: installed.token }),
      400,
    );
  });
});

describe('lookups answer', () => {
  test.each(['', '?serialization=', '?creditId=', '?other=1', '?creditId=a&creditId=b'])(
    '400 to GET /projects/find%s',
    async query => {
      expectRefusal(
        await callSandbox(sandbox, `GET /projects/find${query}`, { token: installed.token }),
        400,
      );
    },
  );

  test.each(['', '?id=', '?id=a&id=b'])('400 to GET /retirements%s', async query => {
    expectRefusal(await callSandbox(sandbox, `GET /retirements${query}`, { token: installed.token }), 400);
  });

  test.each([
    'GET /projects/find?creditId=unknown',
    'GET /projects/find?serialization=unknown',
    `GET /projects/${UNKNOWN}`,
    `GET /retirements?id=${UNKNOWN}`,
    `GET /retirements/${UNKNOWN}/pdf`,
    'GET <root>/retirements/nope',
    'GET <root>/retirements/nope/pdf',
    'GET <root>/inventory/requests/nope',
    'GET <root>/warehouse/inventory/reservations/nope',
    'DELETE <root>/warehouse/inventory/reservations/nope',
    'GET <root>/nothing',
    'PUT <root>',
    'GET /',
  ])('404 to %s', async call => {
    const real = call.replace('<root>', paths['root'] ?? '');
    const accept = real.endsWith('/pdf') ? '*/*' : 'application/json';
    expectRefusal(await callSandbox(sandbox, real, { token: installed.token, headers: { accept } }), 404);
  });

  test.each([
    'GET /app/installations/nope',
    `POST /app/installations/${UNKNOWN}/accessTokens`,
    `GET /app/organizations/${UNKNOWN}/installation`,
  ])('404 to %s', async call => {
    expectRefusal(await callSandbox(sandbox, call, { token: signAppJwt(sandbox, installed.app) }), 404);
  });

  test('400 to a path that cannot be decoded', async () => {
    expectRefusal(await callSandbox(sandbox, 'GET /projects/%E0%A4%A', { token: installed.token }), 400);
  });

  test("403 to another organization's id and to an unknown one", async () => {
    for (const id of [UNKNOWN, 'nope', '%00']) {
      expectRefusal(await callSandbox(sandbox, `GET /organizations/${id}`, { token: installed.token }), 403);
    }
  });

  test('403 to a revoked token', async () => {
    const token = mintToken(sandbox, installed.app);
    await callSandbox(sandbox, 'DELETE /app/installations/token', { token });
    expectRefusal(await callSandbox(sandbox, 'GET /projects', { token }), 403);
  });
});
