import { createHmac } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  callSandbox,
  createControlCaller,
  createPrivateKey,
  getPublicKey,
  installApp,
  issueCredit,
  registerApp,
  signAppJwt,
  signJwt,
  startSandboxForFile,
  startTemporarySandbox,
  type TestApp,
} from '../support/sandbox.js';

const DAY_MS = 86_400_000;

const sandbox = await startSandboxForFile();
const control = createControlCaller(sandbox);
const { clock } = sandbox.registry.store;
const installed = installApp(sandbox);
const { app } = installed;
beforeEach(() => {
  sandbox.registry.faults.clear();
  clock.resume();
  clock.setTime(Date.now());
});

/** Signs a JWT like a program that knows only the wall clock. */
function signByWallClock({ id, privateKey }: TestApp, claims: object = {}): string {
  const now = Math.floor(Date.now() / 1000);
  return signJwt(privateKey, { alg: 'RS256', iss: id, iat: now - 60, exp: now + 300, ...claims });
}

async function getStatus(token: string): Promise<number> {
  return (await callSandbox(sandbox, 'GET /app/installations', { token })).status;
}

const genuine = signAppJwt(sandbox, app);
const [, body = '', signature = ''] = genuine.split('.');
const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');
const symmetric = `${encode({ alg: 'HS256' })}.${body}`;
const hmac = createHmac('sha256', getPublicKey(app.privateKey)).update(symmetric).digest('base64url');

test.each<[string, string, string]>([
  ['signed with a key that no app has', signJwt(createPrivateKey(), claims), 'No key'],
  ['of an unknown app', signAppJwt(sandbox, app, { iss: crypto.randomUUID() }), 'unknown app'],
  ['of no app', signAppJwt(sandbox, app, { iss: undefined }), 'no app'],
  [
    'that names its app in a prototype',
    signJwt(app.privateKey, JSON.parse(`{"__proto__":{"iss":"${app.id}"}}`)),
    'no app',
  ],
  ['whose claims are a list', signJwt(app.privateKey, [app.id]), 'no app'],
  ['with the algorithm none', signJwt(app.privateKey, claims, { alg: 'none' }), 'RS256'],
  ['with the algorithm HS256', signJwt(app.privateKey, claims, { alg: 'HS256' }), 'RS256'],
  ['with a list of algorithms', signJwt(app.privateKey, claims, { alg: ['RS256'] }), 'RS256'],
  ['with a critical extension', signJwt(app.privateKey, claims, { alg: 'RS256', crit: ['b64'] }), 'RS256'],
  ['without a signature', `${encode({ alg: 'none' })}.${body}.`, 'needed'],
  ['with the signature of another header', `${encode({ alg: 'none' })}.${body}.${signature}`, 'RS256'],
  ['signed with the public key as a secret', `${symmetric}.${hmac}`, 'RS256'],
  ['whose RS256 signature is an HMAC', `${encode({ alg: 'RS256' })}.${body}.${hmac}`, 'No key'],
  ['with a damaged signature', `${genuine.slice(0, -4)}AAAA`, 'No key'],
  ['with padding', `${genuine}=`, 'needed'],
  ['with a character outside base64url', `${genuine}!`, 'needed'],
  ['of four parts', `${genuine}.${signature}`, 'needed'],
  ['of two parts', 'a.b', 'needed'],
  ['of no JSON', 'a.b.c', 'read'],
  ['of empty parts', '....', 'needed'],
  ['that is an access token', 'crs_0', 'needed'],
  ['that is empty', '', 'Bearer'],
])('a JWT %s is refused', async (_title, token, message) => {
  const refused = await callSandbox(sandbox, 'GET /app/installations', { token });
  const refusal = { statusCode: 401, message: expect.stringContaining(message), error: 'Unauthorized' };
  expect(refused).toMatchObject({ status: 401, body: refusal });
  expect(await getStatus(genuine)).toBe(200);
});

test('a JWT must expire within 10 minutes', async () => {
  clock.freeze();
  sandbox.registry.faults.add({ kind: 'clock' });
  const now = clock.now() / 1000;
  for (const [exp, status] of [
    [now + 600, 200],
    [now + 600.001, 401],
    [now + 0.001, 200],
    [now, 401],
    [undefined, 401],
    ['2100', 401],
  ])
    expect(await getStatus(signAppJwt(sandbox, app, { exp })), `${exp}`).toBe(status);
});

test('a JWT may be signed with any key of its app until the key is removed', async () => {
  const own = registerApp(sandbox);
  const second = { ...own, privateKey: createPrivateKey() };
  const path = `/apps/${own.id}/keys`;
  const { keys } = (await control(`POST ${path}`, { publicKey: getPublicKey(second.privateKey) })).body;
  expect(keys).toHaveLength(2);
  const getStatuses = async () =>
    [await getStatus(signAppJwt(sandbox, own)), await getStatus(signAppJwt(sandbox, second))].toSorted(
      (a, b) => a - b,
    );
  expect(await getStatuses()).toEqual([200, 200]);
  for (const [key, expected] of [
    [keys[1], [200, 401]],
    [keys[0], [401, 401]],
  ]) {
    const query = encodeURIComponent(key.fingerprint);
    expect((await control(`DELETE ${path}?fingerprint=${query}`)).status).toBe(200);
    expect(await getStatuses()).toEqual(expected);
  }
});

describe('while the sandbox’s clock differs from the wall clock', () => {
  test.each([DAY_MS, 700_000, -700_000, -DAY_MS])('by %d ms, a JWT is valid by either', async ms => {
    clock.shiftTime(ms);
    expect(await getStatus(signByWallClock(app))).toBe(200);
    expect(await getStatus(signAppJwt(sandbox, app))).toBe(200);
  });

  test('a JWT that is valid by neither is refused', async () => {
    clock.shiftTime(DAY_MS);
    const now = Math.floor(Date.now() / 1000);
    for (const exp of [now - 1, now + 660, now + DAY_MS / 1000 - 2])
      expect(await getStatus(signByWallClock(app, { exp }))).toBe(401);
  });

  test('a JWT must be valid by the sandbox’s clock under the fault "clock"', async () => {
    sandbox.registry.faults.add({ kind: 'clock', path: '/app/**' });
    clock.shiftTime(DAY_MS);
    expect(await getStatus(signByWallClock(app))).toBe(401);
    expect(await getStatus(signAppJwt(sandbox, app))).toBe(200);
  });

  test('a program that signs by the wall clock sees its reservation expire', async () => {
    const { organization, token, installationId } = installed;
    const creditId = issueCredit(sandbox, organization.id);
    const queue = `/organizations/${organization.id}/warehouse/inventory/reservations`;
    const order = { token, body: { creditId, amount: 1 } };
    const { id } = (await callSandbox(sandbox, `POST ${queue}`, order)).body;
    clock.shiftTime(10 * 60_000);
    const mint = `POST /app/installations/${installationId}/accessTokens`;
    expect((await callSandbox(sandbox, mint, { token: signByWallClock(app) })).status).toBe(200);
    const { body: ended } = await callSandbox(sandbox, `GET ${queue}/${id}`, { token });
    expect(ended).toMatchObject({ state: 'expired' });
  });
});

test.each(['nbf', 'iat'])('a JWT is refused if its %s is more than a minute ahead', async claim => {
  const now = Math.floor(Date.now() / 1000);
  for (const [value, status] of [
    [now + 55, 200],
    [now + 90, 401],
    ['soon', 401],
    [now - DAY_MS, 200],
  ])
    expect(await getStatus(signByWallClock(app, { [claim]: value })), `${value}`).toBe(status);
});

test.each(['iat', 'alg'])('a JWT without the claim %s is refused by a strict sandbox only', async claim => {
  const without = { [claim]: undefined };
  const lenient = await startTemporarySandbox({ strict: false });
  const other = registerApp(lenient, { privateKey: app.privateKey });
  expect(await getStatus(signByWallClock(app, without))).toBe(401);
  const token = signByWallClock(other, without);
  expect((await callSandbox(lenient, 'GET /app/installations', { token })).status).toBe(200);
});
