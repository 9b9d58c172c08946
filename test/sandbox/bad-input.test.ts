import { describe, expect, test } from 'vitest';
import {
  type Answer,
  callSandbox,
  createRefusal,
  installApp,
  issueCredit,
  signAppJwt,
  startSandboxForFile,
  mintToken,
} from '../support/sandbox.js';

const sandbox = await startSandboxForFile();
const { registry } = sandbox;
const installed = installApp(sandbox);
const { app, organization, installationId, token } = installed;
const neighbour = installApp(sandbox).organization;
const creditId = issueCredit(sandbox, organization.id, { amount: 10 });
registry.credits.issue({ organizationId: organization.id, creditId, amount: 10 });
const { id: reservationId } = registry.reservations.reserve(organization.id, app.id, { creditId, amount: 1 });

const UNKNOWN = '00000000-0000-4000-8000-000000000000';
const UNKNOWN_ADDRESS = `0x${'0'.repeat(40)}`;
const NEIGHBOUR_ADDRESS = registry.store.tables.addresses
  .list()
  .find(row => row.organizationId === neighbour.id)?.address;
const ROOT = `/organizations/${organization.id}`;
const QUEUE = `${ROOT}/warehouse/inventory/reservations`;
const HELD = `${QUEUE}/${reservationId}`;
const REQUESTS = `${ROOT}/inventory/requests`;
const CREATE = '/app/create/user/organization';
const PLACEHOLDERS = { [HELD]: '<reservation>', [QUEUE]: '<reservations>', [ROOT]: '<organization>' };

const retirementData = { reason: 'Other', beneficiaryName: 'Ada' };
const receiverId = organization.id;
const order = { creditId, amount: 1, retirementData };
const user = { email: 'ada@people.example', fullName: 'Ada', profilePicture: '' };
const newOrganization = { fullName: 'Never made', type: 'other', countryCode: 'IS' };
const takenEmail = registry.store.tables.users.list()[0]?.email.toUpperCase();

const NO_AMOUNTS = [0, -1, '1', null, undefined, {}, [1], true, 0.0000001, 1e300];
const withAmounts = NO_AMOUNTS.map(amount => ({ ...order, amount }));
const NO_TEXTS = [1, null, {}, [], true, undefined];
const NO_BODIES = [
  '{"amount":',
  '',
  '[]',
  '"hello"',
  'null',
  `${'['.repeat(20_000)}${']'.repeat(20_000)}`,
  `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
  '{"__proto__":{"amount":1,"creditId":"x"}}',
];
const TOO_LARGE = [{ comment: 'x'.repeat(200_000) }, `"${'x'.repeat(200_000)}"`];
const NO_RETIREMENTS = [
  undefined,
  null,
  'x',
  [],
  {},
  { reason: 'Other' },
  { beneficiaryName: 'Ada' },
  { reason: '', beneficiaryName: 'Ada' },
  { reason: 1, beneficiaryName: 'Ada' },
  { reason: 'Other', beneficiaryName: ' ' },
  { reason: 'Other', beneficiaryName: {} },
  { reason: 'Other', beneficiaryName: 'Ada', comment: 5 },
  { reason: 'x'.repeat(10_001), beneficiaryName: 'Ada' },
];
const NO_EMAILS = [
  '',
  'ada',
  'ada@',
  '@people.example',
  'ada@people',
  'a da@people.example',
  'a@b@people.example',
  7,
  undefined,
];

/** A call, what is wrong with each of the bodies, the status of the refusal, and the bodies. */
type BadCall = readonly [call: string, problem: string, status: number, bodies: readonly unknown[]];

const REGISTRY_CALLS: readonly BadCall[] = [
  [`POST ${QUEUE}`, 'no positive number of millionths', 400, withAmounts],
  [
    `POST ${QUEUE}`,
    'an amount that is no JSON number',
    400,
    ['NaN', 'Infinity', '1e999', '0x1'].map(text => `{"creditId":"${creditId}","amount":${text}}`),
  ],
  [`POST ${QUEUE}`, 'more than is available', 409, [{ creditId, amount: 9.000001 }]],
  [`POST ${QUEUE}`, 'a creditId that is no text', 400, NO_TEXTS.map(id => ({ creditId: id, amount: 1 }))],
  [
    `POST ${QUEUE}`,
    'an unknown creditId',
    404,
    ['', 'nope', '../x', "' or 1=1 --"].map(id => ({ creditId: id, amount: 1 })),
  ],
  ...[QUEUE, `${HELD}/retire`, `${REQUESTS}/retire`].flatMap((path): readonly BadCall[] => [
    [`POST ${path}`, 'a body that is no JSON object', 400, NO_BODIES],
    [`POST ${path}`, 'a body that is too large', 413, TOO_LARGE],
  ]),
  ...['cancel', 'Transfer', 'retire%20', '%00'].map(
    (action): BadCall => [`POST ${HELD}/${action}`, 'an unknown action', 400, [{ retirementData }]],
  ),
  ...['transfer', 'transfer_retire'].flatMap((action): readonly BadCall[] => [
    [
      `POST ${HELD}/${action}`,
      'no receiver',
      400,
      [{ retirementData }, { retirementData, receiverId: null }],
    ],
    [`POST ${REQUESTS}/${action}`, 'no receiver', 400, [order]],
  ]),
  ...['retire', 'transfer_retire'].flatMap((action): readonly BadCall[] => [
    [
      `POST ${HELD}/${action}`,
      'unusable retirementData',
      400,
      NO_RETIREMENTS.map(wrong => ({ receiverId, retirementData: wrong })),
    ],
    [
      `POST ${REQUESTS}/${action}`,
      'unusable retirementData',
      400,
      NO_RETIREMENTS.map(wrong => ({ ...order, toOrganizationId: receiverId, retirementData: wrong })),
    ],
  ]),
  [
    `POST ${HELD}/transfer`,
    'a receiverId that is no UUID',
    400,
    ['not-a-uuid', '', 1, {}, `${UNKNOWN}0`].map(id => ({ receiverId: id })),
  ],
  [
    `POST ${HELD}/transfer`,
    'a receiverAddress that is no address',
    400,
    ['0x12', '0'.repeat(42), `0x${'g'.repeat(40)}`, `0x${'0'.repeat(41)}`, '', 1].map(address => ({
      receiverAddress: address,
    })),
  ],
  [
    `POST ${HELD}/transfer`,
    'an unknown receiver',
    404,
    [{ receiverId: UNKNOWN }, { receiverAddress: UNKNOWN_ADDRESS }],
  ],
  [
    `POST ${HELD}/transfer`,
    'an id and an address of different receivers',
    400,
    [{ receiverId, receiverAddress: NEIGHBOUR_ADDRESS }],
  ],
  [`POST ${HELD}/transfer`, 'a comment that is no text', 400, [{ receiverId, transferComment: 1 }]],
  ...[UNKNOWN, 'nope', '%2e%2e%2f'].map(
    (id): BadCall => [`POST ${QUEUE}/${id}/retire`, 'an unknown reservation', 404, [{ retirementData }]],
  ),
  [`POST ${REQUESTS}/retire`, 'no positive number of millionths', 400, withAmounts],
  [`POST ${REQUESTS}/retire`, 'more than is available', 409, [{ ...order, amount: 10.000001 }]],
  [`POST ${REQUESTS}/retire`, 'an unknown creditId', 404, [{ ...order, creditId: 'x' }]],
  [`POST ${REQUESTS}/burn`, 'an unknown action', 400, [order]],
  [
    `POST ${REQUESTS}/transfer`,
    'a target that is no id or address',
    400,
    [{ toOrganizationId: 'x' }, { toAddress: '0xzz' }].map(target => ({ ...order, ...target })),
  ],
  [
    `POST ${REQUESTS}/transfer`,
    'an unknown target',
    404,
    [{ toOrganizationId: UNKNOWN }, { toAddress: UNKNOWN_ADDRESS }].map(target => ({ ...order, ...target })),
  ],
  [
    `POST ${CREATE}`,
    'a user without a usable email or name',
    400,
    [...NO_EMAILS.map(email => ({ email })), { fullName: 1 }, { profilePicture: {} }].map(change => ({
      user: { ...user, ...change },
      organization: newOrganization,
    })),
  ],
  [
    `POST ${CREATE}`,
    'an organization without a usable name, type or country',
    400,
    [
      ...['is', 'ISL', 'I', '', '12', 5].map(countryCode => ({ countryCode })),
      ...['bank', '', null, undefined, 1].map(type => ({ type })),
      ...['', undefined].map(fullName => ({ fullName })),
    ].map(change => ({ user, organization: { ...newOrganization, ...change } })),
  ],
  [
    `POST ${CREATE}`,
    'a missing part',
    400,
    [
      {},
      { user },
      { organization: newOrganization },
      { user: 'ada', organization: newOrganization },
      { user: [] },
    ],
  ],
  [
    `POST ${CREATE}`,
    'a name or an email that is in use',
    409,
    [
      { user, organization: { ...newOrganization, fullName: organization.fullName } },
      { user: { ...user, email: takenEmail }, organization: newOrganization },
    ],
  ],
];

const NOT_FOUND = [
  'GET /projects/find?creditId=unknown',
  'GET /projects/find?serialization=unknown',
  `GET /projects/${UNKNOWN}`,
  `GET /retirements?id=${UNKNOWN}`,
  `GET /retirements/${UNKNOWN}/pdf`,
  `GET ${ROOT}/retirements/nope`,
  `GET ${ROOT}/retirements/nope/pdf`,
  `GET ${REQUESTS}/nope`,
  `GET ${QUEUE}/nope`,
  `DELETE ${QUEUE}/nope`,
  `GET ${ROOT}/nothing`,
  `PUT ${ROOT}`,
  'GET /',
  'GET /app/installations/nope',
  `POST /app/installations/${UNKNOWN}/accessTokens`,
  `GET /app/organizations/${UNKNOWN}/installation`,
];

const NO_NUMBERS = ['-1', '1.5', 'x', '', '1e3', '99999999999999999999', ' 1', '0x10', 'NaN'];
const BAD_QUERIES = [
  ...[...NO_NUMBERS, '0', '1001'].map(limit => `limit=${encodeURIComponent(limit)}&page=0`),
  ...NO_NUMBERS.map(page => `limit=10&page=${encodeURIComponent(page)}`),
  'limit=1&limit=2',
];
const BAD_LOOKUPS = [
  ...['', '?serialization=', '?creditId=', '?other=1', '?creditId=a&creditId=b'].map(
    query => `/projects/find${query}`,
  ),
  ...['', '?id=', '?id=a&id=b'].map(query => `/retirements${query}`),
  '/projects/%E0%A4%A',
];

const CONTROL_CALLS: readonly BadCall[] = [
  [
    'POST /apps',
    'an unusable name, permission, address or key',
    400,
    [
      {},
      { name: '' },
      { name: 'x', permissions: { organization_info: 'WRITE' } },
      { name: 'x', permissions: ['organization_everything:read'] },
      { name: 'x', permissions: 'all' },
      { name: 'x', permissions: 5 },
      { name: 'x', webhookUrl: 'ftp://x' },
      { name: 'x', publicKeys: ['no key'] },
      { name: 'x', publicKeys: 'no list' },
    ],
  ],
  ['POST /apps', 'a name that is in use', 409, [{ name: app.name }]],
  ['POST /organizations', 'a missing part', 400, [{}]],
  ['POST /projects', 'a missing name', 400, [{}]],
  ['POST /projects', 'an unknown proponent', 404, [{ fullName: 'project', proponentId: 'nobody' }]],
  ['POST /credits', 'a missing part', 400, [{}]],
  ['POST /credits', 'an unknown owner', 404, [{ organizationId: 'nope', projectId: 'nope', amount: 1 }]],
  ['POST /installations', 'a missing part', 400, [{}]],
  ['POST /installations', 'an unknown app', 404, [{ appId: 'nope', organizationId: 'nope' }]],
  [
    'POST /installations',
    'a second installation on an organization',
    409,
    [{ appId: app.id, organizationId: organization.id }],
  ],
  [
    'PATCH /webhooks',
    'a setting out of its range',
    400,
    [
      { drop: -1 },
      { hold: 'yes' },
      { duplicate: 1e9 },
      { delayMs: 9e15 },
      { backoffMs: 9e15 },
      { attempts: 1_000 },
      { timeoutMs: 2 ** 33 },
    ],
  ],
  ['POST /deliveries/release', 'an unknown id', 400, [{ ids: ['x'] }]],
  [
    'POST /clock',
    'an instant outside the years of four digits',
    400,
    [
      ...['x', 1.5, 1e300, 9e15, 8e15, -8e13].map(moveMs => ({ moveMs })),
      ...['noon', '+275760-09-13T00:00:00.000Z'].map(at => ({ at })),
      { frozen: 'yes' },
    ],
  ],
  [
    'POST /faults',
    'an unknown kind, count, path or option',
    400,
    [
      {},
      { kind: 'unknown' },
      { kind: 'html', count: -1 },
      { kind: 'html', path: '' },
      [],
      ...[
        { status: 99 },
        { status: 'teapot' },
        { rows: 0 },
        { retryAfter: 'a\r\nSet-Cookie: b' },
        { delayMs: -1 },
        { colour: 'red' },
      ].map(options => ({ kind: 'status', options })),
    ],
  ],
  ['GET /calls?limit=0', 'a limit of 0', 400, [undefined]],
  ['GET /deliveries?limit=x', 'a limit that is no number', 400, [undefined]],
  ...[
    'GET /apps/nope',
    'DELETE /apps/nope/keys',
    'POST /organizations/nope/claim',
    'POST /installations/nope/suspend',
    'POST /installations/nope/uninstall',
    'POST /installations/nope/accept-permissions',
    'POST /requests/nope/accept',
    'POST /requests/nope/decline',
    'GET /deliveries/x',
    'POST /deliveries/999/resend',
    'POST /deliveries/none/resend',
    'POST /deliveries/1e400/drop',
    'DELETE /faults/999',
    'DELETE /faults/none',
    'GET /nothing',
  ].map((call): BadCall => [call, 'an unknown id', 404, [undefined]]),
  ['PATCH /apps/nope', 'an unknown id', 404, [{}]],
  ['POST /apps/nope/keys', 'an unknown id', 404, [{ publicKey: 'x' }]],
  ['PATCH /projects/nope', 'an unknown id', 404, [{}]],
  ['PATCH /retirements/nope', 'an unknown id', 404, [{ beneficiary: 'x', reason: 'y' }]],
  ...['deposit', 'retire-off-platform'].map(
    (action): BadCall => [
      `POST /organizations/nope/${action}`,
      'an unknown id',
      404,
      [{ creditId: 'x', amount: 1 }],
    ],
  ),
];

/** Returns all data that a refused call must not change. */
function readAllData(): unknown {
  const { tokens: _, ...tables } = registry.store.tables;
  return [
    registry.store.clock.getState(),
    registry.deliveries.getSettings(),
    Object.values(tables).map(table => table.list()),
  ];
}

async function callWithToken(call: string, body?: unknown): Promise<Answer> {
  const isOfApp = / \/app\/(?!installations\/token)/.test(call);
  return callSandbox(sandbox, call, { token: isOfApp ? signAppJwt(sandbox, app) : token, body });
}

/** Expects a refusal in the registry’s format, with at least one readable message. */
function expectRefusal(answer: Answer, status: number): void {
  expect(answer).toMatchObject(createRefusal(status));
  expect(Object.keys(answer.body)).toEqual(['statusCode', 'message', 'error']);
  const messages = [answer.body.message].flat();
  expect(messages.length).toBeGreaterThan(0);
  for (const text of messages) expect(text).toMatch(/\w/);
}

const shorten = (call: string) =>
  Object.entries(PLACEHOLDERS).reduce((text, [path, name]) => text.replace(path, name), call);

describe('a call with bad input changes nothing and is refused in the registry’s format', () => {
  test.each(REGISTRY_CALLS.map(([call, ...rest]) => [shorten(call), ...rest, call] as const))(
    '%s with %s: %i',
    async (_title, _problem, status, bodies, call) => {
      const before = readAllData();
      for (const body of bodies) expectRefusal(await callWithToken(call, body), status);
      expect(readAllData()).toEqual(before);
    },
  );

  test.each(CONTROL_CALLS)('control API: %s with %s: %i', async (call, _problem, status, bodies) => {
    const before = readAllData();
    for (const body of bodies)
      expectRefusal(await callSandbox(sandbox, call.replace(' ', ' /_sandbox'), { body }), status);
    expect(readAllData()).toEqual(before);
  });

  test('several problems are named in one answer', async () => {
    expect((await callWithToken(`POST ${QUEUE}`, {})).body.message).toHaveLength(2);
  });

  test.each(NOT_FOUND.map(call => [shorten(call), call]))('%s: 404', async (_title, call = '') => {
    expectRefusal(await callWithToken(call), 404);
  });

  test.each(['/projects', `${ROOT}/retirements`, QUEUE, REQUESTS, '/app/installations'])(
    'a limit or page that is out of range or no number in %s: 400',
    async path => {
      for (const query of BAD_QUERIES) expectRefusal(await callWithToken(`GET ${path}?${query}`), 400);
    },
  );

  test.each(BAD_LOOKUPS)('GET %s: 400', async path => {
    expectRefusal(await callWithToken(`GET ${path}`), 400);
  });

  test.each([
    '%00',
    '..%2f..',
    'a%0ab',
    '%ff',
    "'%20or%201=1--",
    '%F0%9F%98%80',
    '__proto__',
    'x'.repeat(5_000),
  ])('the id %s: 4xx on every path', async id => {
    expectRefusal(await callWithToken(`GET /organizations/${id}`), id === '%ff' ? 400 : 403);
    for (const path of [
      `${ROOT}/retirements/${id}`,
      `${ROOT}/retirements/${id}/pdf`,
      `${QUEUE}/${id}`,
      `${REQUESTS}/${id}`,
      `/projects/${id}`,
      `/projects/find?creditId=${id}`,
      `/projects/find?serialization=${id}`,
      `/retirements?id=${id}`,
      `/retirements/${id}/pdf`,
    ]) {
      const answer = await callWithToken(`GET ${path}`);
      expect([400, 404], path).toContain(answer.status);
      expectRefusal(answer, answer.status);
    }
  });

  test('an unknown organization, another organization and a revoked token: 403', async () => {
    for (const id of [UNKNOWN, 'nope', neighbour.id])
      expectRefusal(await callWithToken(`GET /organizations/${id}`), 403);
    const revoked = mintToken(sandbox, app, installationId);
    await callSandbox(sandbox, 'DELETE /app/installations/token', { token: revoked });
    expectRefusal(await callSandbox(sandbox, 'GET /projects', { token: revoked }), 403);
  });

  test('an unknown permission is refused with a list of the known ones', async () => {
    for (const [permissions, message] of [
      [['organization_info:view'], /organization_info:read, .*got organization_info:view/],
      [{ organization_info: 'WRITE' }, /organization_info: VIEW, .*got organization_info: WRITE/],
    ] as const) {
      const body = { name: 'Other', permissions };
      expect(String((await callSandbox(sandbox, 'POST /_sandbox/apps', { body })).body.message)).toMatch(
        message,
      );
    }
  });
});
