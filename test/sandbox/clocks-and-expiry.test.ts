import { beforeEach, describe, expect, test } from 'vitest';
import {
  type Answer,
  callSandbox,
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
const installed = installApp(sandbox);
const creditId = issueCredit(sandbox, installed.organization.id, { amount: 100 });
beforeEach(() => {
  sandbox.registry.faults.clear();
  sandbox.registry.store.clock.setTime(Date.now());
});

/** Signs a JWT like a program that knows only the wall clock. */
function signByWallClock({ id, privateKey }: TestApp, claims: object = {}): string {
  const now = Math.floor(Date.now() / 1000);
  return signJwt(privateKey, { alg: 'RS256', iss: id, iat: now - 60, exp: now + 300, ...claims });
}

async function getStatus(token: string): Promise<number> {
  return (await callSandbox(sandbox, 'GET /app/installations', { token })).status;
}

async function reserve(): Promise<Answer> {
  const { organization, token } = installed;
  const path = `/organizations/${organization.id}/warehouse/inventory/reservations`;
  return await callSandbox(sandbox, `POST ${path}`, { token, body: { creditId, amount: 1 } });
}

async function readReservation(id: string): Promise<Answer> {
  const { organization, token } = installed;
  const path = `/organizations/${organization.id}/warehouse/inventory/reservations/${id}`;
  return await callSandbox(sandbox, `GET ${path}`, { token });
}

describe('a JWT', () => {
  test.each([DAY_MS, 700_000, -700_000, -DAY_MS])(
    'is valid by either clock while the sandbox’s is %d ms ahead',
    async ms => {
      sandbox.registry.store.clock.shiftTime(ms);
      expect(await getStatus(signByWallClock(installed.app))).toBe(200);
      expect(await getStatus(signAppJwt(sandbox, installed.app))).toBe(200);
    },
  );

  test('is refused if it is valid by neither clock', async () => {
    sandbox.registry.store.clock.shiftTime(DAY_MS);
    const now = Math.floor(Date.now() / 1000);
    expect(await getStatus(signByWallClock(installed.app, { exp: now - 1 }))).toBe(401);
    expect(await getStatus(signByWallClock(installed.app, { exp: now + 660 }))).toBe(401);
    expect(await getStatus(signByWallClock(installed.app, { exp: now + DAY_MS / 1000 - 2 }))).toBe(401);
  });

  test.each(['nbf', 'iat'])('is refused if its %s is more than a minute ahead', async claim => {
    const now = Math.floor(Date.now() / 1000);
    expect(await getStatus(signByWallClock(installed.app, { [claim]: now + 55 }))).toBe(200);
    expect(await getStatus(signByWallClock(installed.app, { [claim]: now + 90 }))).toBe(401);
    expect(await getStatus(signByWallClock(installed.app, { [claim]: 'soon' }))).toBe(401);
    expect(await getStatus(signByWallClock(installed.app, { [claim]: now - DAY_MS }))).toBe(200);
  });

  test('must be valid by the sandbox’s clock under the fault "clock"', async () => {
    sandbox.registry.faults.add({ kind: 'clock', path: '/app/**' });
    sandbox.registry.store.clock.shiftTime(DAY_MS);
    expect(await getStatus(signByWallClock(installed.app))).toBe(401);
    expect(await getStatus(signAppJwt(sandbox, installed.app))).toBe(200);
  });

  test.each(['iat', 'alg'])('without the claim %s is refused by a strict sandbox only', async claim => {
    const claims = { [claim]: undefined };
    const lenient = await startTemporarySandbox({ strict: false });
    const app = registerApp(lenient, { privateKey: installed.app.privateKey });
    expect(await getStatus(signByWallClock(installed.app, claims))).toBe(401);
    const token = signByWallClock(app, claims);
    expect((await callSandbox(lenient, 'GET /app/installations', { token })).status).toBe(200);
  });
});

test('a program that signs by the wall clock sees its reservation expire by the sandbox’s clock', async () => {
  const { body } = await reserve();
  sandbox.registry.store.clock.shiftTime(10 * 60_000);
  const path = `POST /app/installations/${installed.installationId}/accessTokens`;
  expect((await callSandbox(sandbox, path, { token: signByWallClock(installed.app) })).status).toBe(200);
  expect((await readReservation(body.id)).body).toMatchObject({ state: 'expired' });
});

describe('a reservation', () => {
  test('stays expired when the clock is moved back', async () => {
    const { warehouse } = await readAmounts();
    const { body } = await reserve();
    const { clock } = sandbox.registry.store;
    clock.shiftTime(11 * 60_000);
    clock.shiftTime(-11 * 60_000);
    expect((await readReservation(body.id)).body).toMatchObject({ state: 'expired' });
    expect((await readAmounts()).warehouse).toBe(warehouse);
    const kept = await reserve();
    sandbox.registry.clock.change({ at: new Date(clock.now() + DAY_MS).toISOString(), moveMs: -DAY_MS });
    expect((await readReservation(kept.body.id)).body).toMatchObject({ state: 'outstanding' });
  });

  test('is expired by the control API, which returns its credits', async () => {
    const { warehouse } = await readAmounts();
    const { body } = await reserve();
    expect((await readAmounts()).warehouse).toBe(warehouse - 1);
    const before = sandbox.registry.store.now();
    const ended = await callSandbox(sandbox, `POST /_sandbox/reservations/${body.id}/expire`);
    expect(ended).toMatchObject({
      status: 200,
      body: { state: 'expired', organizationId: installed.organization.id },
    });
    expect((await readAmounts()).warehouse).toBe(warehouse);
    const { reservedToDate } = (await readReservation(body.id)).body;
    expect(reservedToDate >= before && reservedToDate <= sandbox.registry.store.now()).toBe(true);
    expect((await callSandbox(sandbox, `POST /_sandbox/reservations/${body.id}/expire`)).status).toBe(409);
    expect((await callSandbox(sandbox, 'POST /_sandbox/reservations/none/expire')).status).toBe(404);
    const { reservations } = (await callSandbox(sandbox, 'GET /_sandbox/reservations?limit=1')).body;
    expect(reservations).toEqual([ended.body]);
  });

  test('that ends because the clock is moved ended at the instant of that move', async () => {
    const { body } = await reserve();
    const before = sandbox.registry.store.now();
    await callSandbox(sandbox, 'POST /_sandbox/clock', { body: { moveMs: 3_600_000 } });
    const ended = (await readReservation(body.id)).body;
    expect(ended.state).toBe('expired');
    expect(ended.reservedToDate).toBe(ended.updatedAt);
    expect(ended.reservedToDate >= before && ended.reservedToDate < body.reservedToDate).toBe(true);
  });

  test('that ended before its time limit states when it ended', async () => {
    const { organization, token } = installed;
    const path = `/organizations/${organization.id}/warehouse/inventory/reservations`;
    const [one, other] = [(await reserve()).body.id, (await reserve()).body.id];
    await callSandbox(sandbox, `DELETE ${path}/${one}`, { token });
    const retirementData = { reason: 'Other', beneficiaryName: 'Ada' };
    await callSandbox(sandbox, `POST ${path}/${other}/retire`, { token, body: { retirementData } });
    for (const id of [one, other]) {
      const { reservedToDate, updatedAt } = (await readReservation(id)).body;
      expect(reservedToDate).toBe(updatedAt);
      expect(Date.parse(reservedToDate)).toBeLessThanOrEqual(sandbox.registry.store.clock.now());
    }
  });

  async function readAmounts(): Promise<{ warehouse: number }> {
    const { organization, token } = installed;
    const { body } = await callSandbox(sandbox, `GET /organizations/${organization.id}/warehouse/inventory`, {
      token,
    });
    return { warehouse: body.credits[0].amount };
  }
});

test('the control API expires one token and no other', async () => {
  const path = `POST /app/installations/${installed.installationId}/accessTokens`;
  const made = await callSandbox(sandbox, path, { token: signByWallClock(installed.app) });
  const call = `GET /organizations/${installed.organization.id}`;
  expect((await callSandbox(sandbox, call, { token: made.body.token })).status).toBe(200);
  const ended = await callSandbox(sandbox, `POST /_sandbox/tokens/${made.body.id}/expire`);
  expect(ended).toMatchObject({ status: 200, body: { id: made.body.id, isActive: false } });
  const refused = await callSandbox(sandbox, call, { token: made.body.token });
  expect(refused).toMatchObject({ status: 403, body: { message: 'Access token invalid: it has expired' } });
  expect((await callSandbox(sandbox, call, { token: installed.token })).status).toBe(200);
  const { tokens } = (await callSandbox(sandbox, 'GET /_sandbox/tokens?limit=1')).body;
  expect(tokens).toEqual([ended.body]);
  expect(JSON.stringify(tokens)).not.toContain('crs_');
});
