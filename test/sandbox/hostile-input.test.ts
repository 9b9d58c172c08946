import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { connect } from 'node:net';
import { rmSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/start.js';
import {
  type Answer,
  callSandbox,
  createPrivateKey,
  installApp,
  issueCredit,
  mintToken,
  getPublicKey,
  registerApp,
  signAppJwt,
  signJwt,
  startTemporarySandbox,
  findUnbalancedCredits,
} from '../support/sandbox.js';
import { makeFolder } from '../support/folder.js';

const RETIREMENT = { reason: 'Voluntary purposes', beneficiaryName: 'Nordlys', comment: 'x' };

test('a JWT that is unsigned, signed with the public key as a secret, or not valid base64url answers 401', async () => {
  const sandbox = await startTemporarySandbox();
  const app = registerApp(sandbox);
  const genuine = signAppJwt(sandbox, app);
  const [, claims = '', signature = ''] = genuine.split('.');
  const none = `${encodeJwtPart({ alg: 'none' })}.${claims}`;
  const symmetric = `${encodeJwtPart({ alg: 'HS256' })}.${claims}`;
  const hmac = createHmac('sha256', getPublicKey(app.privateKey)).update(symmetric).digest('base64url');
  const now = Math.floor(sandbox.registry.store.clock.now() / 1000);
  const forged = [
    `${none}.`,
    `${none}.${signature}`,
    `${symmetric}.${hmac}`,
    `${encodeJwtPart({ alg: 'RS256' })}.${claims}.${hmac}`,
    signJwt(createPrivateKey(), { iss: app.id, exp: now + 60 }),
    signJwt(app.privateKey, { iss: app.id, exp: now + 60 }, { alg: ['RS256'] }),
    signJwt(app.privateKey, JSON.parse(`{"__proto__":{"iss":"${app.id}"},"exp":${now + 60}}`)),
    signJwt(app.privateKey, [app.id]),
    `${genuine}=`,
    `${genuine}!`,
    `${genuine}.${signature}`,
  ];
  for (const token of forged)
    expectRefusal(await callSandbox(sandbox, 'POST /app/accessTokens', { token }), 401);
  expect((await callSandbox(sandbox, 'POST /app/accessTokens', { token: genuine })).status).toBe(200);
});

test('an installation can call friendbot for its own organization only', async () => {
  const sandbox = await startTemporarySandbox();
  const { token, app } = installApp(sandbox);
  const other = installApp(sandbox);
  const call = `GET /organizations/${other.organization.id}/friendbot`;
  expectRefusal(await callSandbox(sandbox, call, { token }), 403);
  expect((await callSandbox(sandbox, call, { token: other.token })).status).toBe(200);
  expect((await callSandbox(sandbox, call, { token: mintToken(sandbox, app) })).status).toBe(200);
});

test('a call with an unusual id answers 4xx on every path', async () => {
  const sandbox = await startTemporarySandbox();
  const { token, organization } = installApp(sandbox);
  const own = `/organizations/${organization.id}`;
  const long = 'x'.repeat(5_000);
  for (const id of ['%00', '..%2f..', 'a%0ab', '%ff', "'%20or%201=1--", '%F0%9F%98%80', '__proto__', long]) {
    const paths = [
      `/organizations/${id}`,
      `${own}/retirements/${id}`,
      `${own}/retirements/${id}/pdf`,
      `${own}/warehouse/inventory/reservations/${id}`,
      `${own}/inventory/requests/${id}`,
      `/projects/${id}`,
      `/projects/find?creditId=${id}`,
      `/projects/find?serialization=${id}`,
      `/retirements?id=${id}`,
      `/retirements/${id}/pdf`,
    ];
    for (const path of paths) {
      const answer = await callSandbox(sandbox, `GET ${path}`, { token, headers: { accept: '*/*' } });
      expect([400, 403, 404]).toContain(answer.status);
      expectRefusal(answer, answer.status);
    }
  }
});

test('an invalid body is refused and reserves nothing', async () => {
  const sandbox = await startTemporarySandbox();
  const { token, organization } = installApp(sandbox);
  const creditId = issueCredit(sandbox, organization.id);
  const path = `/organizations/${organization.id}/warehouse/inventory/reservations`;
  const bodies = [
    '',
    '{',
    'null',
    '[]',
    '"text"',
    `{"creditId":"${creditId}","amount":1e999}`,
    `{"__proto__":{"creditId":"${creditId}","amount":1}}`,
    `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`,
    `"${'x'.repeat(200_000)}"`,
  ];
  for (const body of bodies) {
    const answer = await callSandbox(sandbox, `POST ${path}`, { token, body });
    expect([400, 413]).toContain(answer.status);
    expectRefusal(answer, answer.status);
  }
  expect((await callSandbox(sandbox, `GET ${path}`, { token })).body.pagination.total).toBe(0);
});

test('of twenty concurrent finishes and cancels exactly one succeeds', async () => {
  const sandbox = await startTemporarySandbox();
  const { token, organization } = installApp(sandbox);
  const receiver = installApp(sandbox).organization;
  const creditId = issueCredit(sandbox, organization.id);
  const path = `/organizations/${organization.id}/warehouse/inventory/reservations`;
  const { body: held } = await callSandbox(sandbox, `POST ${path}`, {
    token,
    body: { creditId, amount: 40 },
  });
  const orders = ['DELETE', 'POST transfer', 'POST retire', 'POST transfer_retire'].flatMap(order =>
    Array(5).fill(order),
  );
  const answers = await Promise.all(
    orders.map(async (order: string) => {
      const [method, action] = order.split(' ');
      if (action === undefined) return callSandbox(sandbox, `${method} ${path}/${held.id}`, { token });
      const body = { receiverId: receiver.id, retirementData: RETIREMENT };
      return callSandbox(sandbox, `${method} ${path}/${held.id}/${action}`, { token, body });
    }),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(19);
  expect(findUnbalancedCredits(sandbox)).toEqual([]);
});

test('of thirty concurrent reservations of more than half a credit exactly one succeeds', async () => {
  const sandbox = await startTemporarySandbox();
  const installed = installApp(sandbox);
  const two = installApp(sandbox, { organization: installed.organization });
  const creditId = issueCredit(sandbox, installed.organization.id, { amount: 100 });
  const call = `POST /organizations/${installed.organization.id}/warehouse/inventory/reservations`;
  const answers = await Promise.all(
    Array.from({ length: 30 }, async (_, index) =>
      callSandbox(sandbox, call, {
        token: index % 2 === 0 ? installed.token : two.token,
        body: { creditId, amount: 50.5 },
      }),
    ),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(findUnbalancedCredits(sandbox)).toEqual([]);
});

test('T60 hostile text in a retirement is returned unchanged, and its certificate has one page', async () => {
  const sandbox = await startTemporarySandbox();
  const { token, organization } = installApp(sandbox);
  const creditId = issueCredit(sandbox, organization.id);
  const words = `'); drop table retirements; -- \\( ) Tj ET %%EOF \u0141\u{1f600}\u202e\n<script>`;
  const base = `/organizations/${organization.id}`;
  const reservations = `${base}/warehouse/inventory/reservations`;
  const { body: held } = await callSandbox(sandbox, `POST ${reservations}`, {
    token,
    body: { creditId, amount: 1 },
  });
  const retirementData = { reason: words, beneficiaryName: words, comment: words };
  await callSandbox(sandbox, `POST ${reservations}/${held.id}/retire`, { token, body: { retirementData } });
  const { retirements } = (await callSandbox(sandbox, `GET ${base}/retirements`, { token })).body;
  expect(retirements).toMatchObject([{ reason: words, beneficiary: words, comment: words }]);
  const headers = { accept: 'application/octet-stream' };
  const pdf = await callSandbox(sandbox, `GET ${base}/retirements/${retirements[0].id}/pdf`, {
    token,
    headers,
  });
  expect(pdf.status).toBe(200);
  expect(pdf.body.startsWith('%PDF-') && pdf.body.endsWith('%%EOF\n')).toBe(true);
});

test('a slow reader of a long answer, or one that disconnects, does not fill the sandbox’s memory', async () => {
  const sandbox = await startTemporarySandbox({ seed: 1, world: { organizations: 1, credits: 6_000 } });
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on('warning', note);
  const [organization] = sandbox.registry.organizations.listAll();
  if (organization === undefined) throw new Error('the world has no organization');
  const { token } = installApp(sandbox, { organization });
  const path = `/organizations/${organization.id}/warehouse/inventory`;
  await disconnectEarly(sandbox, path, token);
  const { body } = await callSandbox(sandbox, `GET ${path}`, { token });
  expect(body.credits).toHaveLength(4_800);
  process.off('warning', note);
  expect(warnings).toEqual([]);
});

test('the clock stays within years of four digits', async () => {
  const sandbox = await startTemporarySandbox();
  for (const body of [
    { moveMs: 8e15 },
    { moveMs: -8e13 },
    { at: '+275760-09-13T00:00:00.000Z' },
    { at: 'soon' },
  ]) {
    expectRefusal(await callSandbox(sandbox, 'POST /_sandbox/clock', { body }), 400);
  }
  const { body } = await callSandbox(sandbox, 'GET /_sandbox/clock');
  expect(Math.abs(Date.parse(body.now) - Date.now())).toBeLessThan(60_000);
});

test.each([
  { status: 99 },
  { status: 'teapot' },
  { rows: 0 },
  { retryAfter: 'a\r\nSet-Cookie: b' },
  { delayMs: -1 },
  { colour: 'red' },
])('A fault with the options %o is refused', async options => {
  const sandbox = await startTemporarySandbox();
  expectRefusal(
    await callSandbox(sandbox, 'POST /_sandbox/faults', { body: { kind: 'status', options } }),
    400,
  );
  expect((await callSandbox(sandbox, 'GET /_sandbox/faults')).body.faults).toEqual([]);
});

test('delivery settings have limits', async () => {
  const sandbox = await startTemporarySandbox();
  const wishes = [
    { duplicate: 1e9 },
    { delayMs: 9e15 },
    { backoffMs: 9e15 },
    { attempts: 1_000 },
    { timeoutMs: 2 ** 33 },
  ];
  for (const body of wishes)
    expectRefusal(await callSandbox(sandbox, 'PATCH /_sandbox/webhooks', { body }), 400);
  expect((await callSandbox(sandbox, 'GET /_sandbox/webhooks')).body).toMatchObject({
    duplicate: 0,
    delayMs: 0,
    attempts: 1,
  });
});

test('a folder refuses another seed than its world’s, and a seed for a registry that began without one', async () => {
  const folder = makeFolder('carbon-sandbox-test-');
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const begin = async (seed?: number) =>
    startSandbox({ port: 0, folder, ...(seed !== undefined && { seed }) });
  const first = await begin();
  registerApp(first);
  await first.close();
  await expect(begin(1)).rejects.toThrow(/created without a seed/);
  const again = await begin();
  expect(again.registry.apps.list()).toHaveLength(1);
  await again.close();
});

test('rows can appear between the pages of the project list', async () => {
  const sandbox = await startTemporarySandbox({ seed: 1 });
  const { token } = installApp(sandbox);
  await callSandbox(sandbox, 'POST /_sandbox/faults', {
    body: { kind: 'rowsDisappear', path: '/projects', options: { rows: 2 } },
  });
  const first = (await callSandbox(sandbox, 'GET /projects', { token })).body.pagination.total;
  const second = (await callSandbox(sandbox, 'GET /projects', { token })).body.pagination.total;
  expect(first - second).toBe(2);
});

test('the control API refuses web pages and rebound host names', async () => {
  const sandbox = await startTemporarySandbox();
  for (const headers of [
    { origin: 'https://evil.example' },
    { host: 'evil.example' },
    { 'x-forwarded-for': '1.2.3.4' },
  ]) {
    expect(await getStatus(sandbox, '/_sandbox/apps', headers)).toBe(403);
  }
  expect(await getStatus(sandbox, '/_sandbox/apps', { host: `localhost:${sandbox.port}` })).toBe(200);
});

test('a control call with an unknown id changes nothing and answers 4xx', async () => {
  const sandbox = await startTemporarySandbox();
  const calls: [string, object?][] = [
    ['POST /_sandbox/apps', { name: 'app', permissions: 5 }],
    ['POST /_sandbox/apps', { name: 'app', publicKeys: ['none'] }],
    ['POST /_sandbox/projects', { fullName: 'project', proponentId: 'nobody' }],
    ['POST /_sandbox/credits', { organizationId: 'nobody', projectId: 'none', amount: 1 }],
    ['POST /_sandbox/organizations/nobody/deposit', { creditId: 'none', amount: 1 }],
    ['POST /_sandbox/requests/none/accept'],
    ['POST /_sandbox/deliveries/none/resend'],
    ['DELETE /_sandbox/faults/none'],
  ];
  for (const [call, body] of calls) {
    const answer = await callSandbox(sandbox, call, body === undefined ? {} : { body });
    expect([400, 404]).toContain(answer.status);
    expectRefusal(answer, answer.status);
  }
  expect(sandbox.registry.apps.list()).toEqual([]);
});

function encodeJwtPart(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}

function expectRefusal({ status, body }: Answer, expected: number): void {
  expect(status).toBe(expected);
  expect(body).toEqual({ statusCode: expected, message: expect.anything(), error: expect.any(String) });
}

/** Reads the head of the answer and then closes the connection. */
async function disconnectEarly({ port }: Sandbox, path: string, token: string): Promise<void> {
  const lines = [
    `GET ${path} HTTP/1.1`,
    'Host: localhost',
    `Authorization: Bearer ${token}`,
    'x-registry-api-version: 2023-06-16',
  ];
  await new Promise<void>((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`));
    socket.once('data', () => socket.destroy());
    socket.once('close', () => resolve());
    socket.once('error', reject);
  });
}

async function getStatus(
  { port }: Sandbox,
  path: string,
  headers: Record<string, string>,
): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port, path, headers }, response => {
      response.resume();
      resolve(response.statusCode);
    })
      .once('error', reject)
      .end();
  });
}
