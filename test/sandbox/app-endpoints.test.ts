import { beforeEach, describe, expect, test } from 'vitest';
import {
  ALL_PERMISSIONS,
  callSandbox,
  createOrganization,
  createPrivateKey,
  installApp,
  issueCredit,
  mintToken,
  getPublicKey,
  registerApp,
  signAppJwt,
  signJwt,
  startSandboxForFile,
} from '../support/sandbox.js';

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const TWO_HOURS_MS = 2 * 60 * 60 * 1000;

let jwt: string;

const sandbox = await startSandboxForFile();
const app = registerApp(sandbox);
beforeEach(() => {
  jwt = signAppJwt(sandbox, app);
});

function getLifetimeMs(token: { createdAt: string; expiresAt: string }): number {
  return Date.parse(token.expiresAt) - Date.parse(token.createdAt);
}

test('POST /app/accessTokens returns an app access token without organization or permissions', async () => {
  const { status, body } = await callSandbox(sandbox, 'POST /app/accessTokens', { token: jwt });
  expect(status).toBe(200);
  expect(body).toEqual({
    id: expect.any(String),
    createdAt: expect.stringMatching(INSTANT),
    updatedAt: body.createdAt,
    token: expect.stringMatching(/^crs_[0-9a-f]{48}$/),
    expiresAt: expect.stringMatching(INSTANT),
    isActive: true,
    permissions: {},
    appId: app.id,
  });
});

test('POST /app/installations/<installation_id>/accessTokens returns token, expiry, permissions and organization', async () => {
  const { installationId, organization } = installApp(sandbox, { app });
  const { status, body } = await callSandbox(
    sandbox,
    `POST /app/installations/${installationId}/accessTokens`,
    {
      token: jwt,
    },
  );
  expect(status).toBe(200);
  expect(body).toEqual({
    id: expect.any(String),
    createdAt: expect.stringMatching(INSTANT),
    updatedAt: body.createdAt,
    token: expect.stringMatching(/^crs_[0-9a-f]{48}$/),
    expiresAt: expect.stringMatching(INSTANT),
    isActive: true,
    permissions: ALL_PERMISSIONS,
    appId: app.id,
    installationId,
    organizationId: organization.id,
  });
  expect(getLifetimeMs(body)).toBe(TWO_HOURS_MS);
});

test('POST /app/installations/<installation_id>/accessTokens accepts an empty object as body', async () => {
  const { installationId } = installApp(sandbox, { app });
  const call = `POST /app/installations/${installationId}/accessTokens`;
  expect((await callSandbox(sandbox, call, { token: jwt, body: {} })).status).toBe(200);
});

test('POST /app/create/user/organization creates both and installs the app on the organization', async () => {
  const body = {
    user: { email: 'New.Owner@people.example', fullName: 'New Owner', profilePicture: '' },
    organization: { fullName: 'New Owner ehf.', type: 'other', countryCode: 'IS' },
  };
  const created = await callSandbox(sandbox, 'POST /app/create/user/organization', { token: jwt, body });
  expect(created.status).toBe(200);
  expect(created.body).toMatchObject({
    user: { email: 'new.owner@people.example', fullName: 'New Owner', profilePicture: '' },
    organization: body.organization,
    installation: { appId: app.id, permissions: ALL_PERMISSIONS },
  });
  const { installation, organization } = created.body;
  expect(installation.organization).toEqual(organization);

  const token = mintToken(sandbox, app, installation.id);
  const members = await callSandbox(sandbox, `GET /organizations/${organization.id}/members`, { token });
  expect(members.body.members).toMatchObject([{ email: 'new.owner@people.example', fullName: 'New Owner' }]);
});

test('a purchase can be finished into an organization that the app created for its buyer', async () => {
  const { organization: seller, token } = installApp(sandbox, { app });
  const creditId = issueCredit(sandbox, seller.id);
  const queue = `/organizations/${seller.id}/warehouse/inventory/reservations`;
  const reservation = await callSandbox(sandbox, `POST ${queue}`, { token, body: { creditId, amount: 3 } });
  const buyer = {
    user: { email: 'buyer@people.example' },
    organization: { fullName: 'Buyer', type: 'other' },
  };
  const created = await callSandbox(sandbox, 'POST /app/create/user/organization', {
    token: jwt,
    body: buyer,
  });
  const { organization, installation } = created.body;
  const finish = { token, body: { receiverId: organization.id } };
  expect((await callSandbox(sandbox, `POST ${queue}/${reservation.body.id}/transfer`, finish)).status).toBe(
    200,
  );
  const inventory = await callSandbox(sandbox, `GET /organizations/${organization.id}/inventory`, {
    token: mintToken(sandbox, app, installation.id),
  });
  expect(inventory.body.credits).toMatchObject([{ id: creditId, amount: 3 }]);
});

test('an organization that an app created can be claimed once by its user', async () => {
  const body = {
    user: { email: 'claimer@people.example' },
    organization: { fullName: 'Claimed later', type: 'other' },
  };
  const { body: created } = await callSandbox(sandbox, 'POST /app/create/user/organization', {
    token: jwt,
    body,
  });
  const claim = `POST /_sandbox/organizations/${created.organization.id}/claim`;
  expect((await callSandbox(sandbox, claim)).status).toBe(200);
  expect((await callSandbox(sandbox, claim)).status).toBe(409);
});

test('GET /app/installations?limit=<n>&page=<n> pages through all installations of the calling app', async () => {
  const owner = registerApp(sandbox);
  const ids = Array.from({ length: 5 }, () => installApp(sandbox, { app: owner }).installationId);
  sandbox.registry.installations.suspend(ids[0] ?? '');
  const token = signAppJwt(sandbox, owner);
  const seen: string[] = [];
  for (const page of [0, 1, 2]) {
    const { body } = await callSandbox(sandbox, `GET /app/installations?limit=2&page=${page}`, { token });
    expect(body.pagination).toEqual({
      total: 5,
      currentPage: page,
      pageCount: 3,
      nextPage: page < 2 ? page + 1 : null,
      prevPage: page > 0 ? page - 1 : null,
    });
    for (const installation of body.installations) seen.push(installation.id);
  }
  expect(seen.toSorted()).toEqual(ids.toSorted());
});

test('GET /app/installations/<installation_id> returns one installation with its organization', async () => {
  const { installationId, organization } = installApp(sandbox, { app });
  const { body } = await callSandbox(sandbox, `GET /app/installations/${installationId}`, { token: jwt });
  expect(Object.keys(body).toSorted()).toEqual([
    'accessTokensUrl',
    'appId',
    'appNameId',
    'createdAt',
    'id',
    'organization',
    'permissions',
    'updatedAt',
  ]);
  expect(body).toMatchObject({ id: installationId, appId: app.id, organization });
});

test('GET /app/organizations/<organization_id>/installation returns the calling app’s installation on that organization', async () => {
  const { installationId, organization } = installApp(sandbox, { app });
  const call = `GET /app/organizations/${organization.id}/installation`;
  expect((await callSandbox(sandbox, call, { token: jwt })).body.id).toBe(installationId);
  const stranger = signAppJwt(sandbox, registerApp(sandbox));
  expect((await callSandbox(sandbox, call, { token: stranger })).status).toBe(404);
});

test('DELETE /app/installations/token revokes only the token that it is sent with', async () => {
  const { installationId, organization } = installApp(sandbox, { app });
  const [ended, other] = [mintToken(sandbox, app, installationId), mintToken(sandbox, app, installationId)];
  const read = `GET /organizations/${organization.id}`;
  expect(await callSandbox(sandbox, 'DELETE /app/installations/token', { token: ended })).toMatchObject({
    status: 200,
    body: {},
  });
  expect((await callSandbox(sandbox, read, { token: ended })).status).toBe(403);
  expect((await callSandbox(sandbox, 'DELETE /app/installations/token', { token: ended })).status).toBe(403);
  expect((await callSandbox(sandbox, read, { token: other })).status).toBe(200);
});

test('DELETE /app/installations/token accepts an app access token too', async () => {
  const token = mintToken(sandbox, app);
  expect((await callSandbox(sandbox, 'GET /projects', { token })).status).toBe(200);
  expect((await callSandbox(sandbox, 'DELETE /app/installations/token', { token })).status).toBe(200);
  expect((await callSandbox(sandbox, 'GET /projects', { token })).status).toBe(403);
});

describe('the app JWT', () => {
  const CALL = 'GET /app/installations';

  async function getStatus(token: string): Promise<number> {
    return (await callSandbox(sandbox, CALL, { token })).status;
  }

  test('must be RS256, signed with a key of the app in iss', async () => {
    expect(await getStatus(jwt)).toBe(200);
    expect(await getStatus(signAppJwt(sandbox, { ...app, privateKey: createPrivateKey() }))).toBe(401);
    expect(await getStatus(signAppJwt(sandbox, app, { iss: crypto.randomUUID() }))).toBe(401);
    expect(await getStatus(signAppJwt(sandbox, app, { iss: undefined }))).toBe(401);
    expect(await getStatus(signJwt(app.privateKey, decodeClaims(jwt), { alg: 'none' }))).toBe(401);
    expect(await getStatus(signJwt(app.privateKey, decodeClaims(jwt), { alg: 'HS256' }))).toBe(401);
    expect(await getStatus(`${jwt.slice(0, -4)}AAAA`)).toBe(401);
  });

  test('must expire within 10 minutes', async () => {
    const { clock } = sandbox.registry.store;
    clock.freeze();
    const { id } = sandbox.registry.faults.add({ kind: 'clock' });
    const now = clock.now() / 1000;
    expect(await getStatus(signAppJwt(sandbox, app, { exp: now + 600 }))).toBe(200);
    expect(await getStatus(signAppJwt(sandbox, app, { exp: now + 600.001 }))).toBe(401);
    expect(await getStatus(signAppJwt(sandbox, app, { exp: now + 0.001 }))).toBe(200);
    expect(await getStatus(signAppJwt(sandbox, app, { exp: now }))).toBe(401);
    expect(await getStatus(signAppJwt(sandbox, app, { exp: undefined }))).toBe(401);
    expect(await getStatus(signAppJwt(sandbox, app, { exp: '2100' }))).toBe(401);
    sandbox.registry.faults.remove(id);
    clock.resume();
  });

  test('may be signed with any of several public keys of the app', async () => {
    const second = createPrivateKey();
    const { keys } = sandbox.registry.apps.addKey(app.id, { publicKey: getPublicKey(second) });
    expect(keys).toHaveLength(2);
    expect(await getStatus(signAppJwt(sandbox, { ...app, privateKey: second }))).toBe(200);
    expect(await getStatus(jwt)).toBe(200);
    const statuses = async () => {
      const other = signAppJwt(sandbox, { ...app, privateKey: second });
      return new Set([await getStatus(jwt), await getStatus(other)]);
    };
    sandbox.registry.apps.removeKey(app.id, keys[1]?.fingerprint ?? '');
    expect(await statuses()).toEqual(new Set([200, 401]));
  });

  test.each(['', 'a.b', 'a.b.c', '....', 'crs_0'])(
    'is refused in the registry’s format if it is %j',
    async token => {
      const { body } = await callSandbox(sandbox, CALL, { headers: { authorization: `Bearer ${token}` } });
      expect(body).toEqual({ statusCode: 401, message: expect.any(String), error: 'Unauthorized' });
    },
  );

  function decodeClaims(token: string): object {
    return JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
  }
});

describe('every JWT endpoint refuses an access token', () => {
  const calls = [
    'POST /app/accessTokens',
    'POST /app/installations/<installation_id>/accessTokens',
    'POST /app/create/user/organization',
    'GET /app/installations?limit=1&page=0',
    'GET /app/installations/<installation_id>',
    'GET /app/organizations/<organization_id>/installation',
  ];
  test.each(calls)('%s', async call => {
    const { installationId, organization, token } = installApp(sandbox, { app });
    const real = call
      .replace('<installation_id>', installationId)
      .replace('<organization_id>', organization.id);
    expect((await callSandbox(sandbox, real, { token })).status).toBe(401);
    expect((await callSandbox(sandbox, real)).status).toBe(401);
  });
});

describe('the lifecycle of an installation', () => {
  test('a suspended installation stays listed and readable, without a state, and gets no tokens', async () => {
    const { installationId, organization, token } = installApp(sandbox, { app });
    sandbox.registry.installations.suspend(installationId);
    const answer = await callSandbox(sandbox, `GET /app/installations/${installationId}`, { token: jwt });
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).filter(name => /state|suspend|status|active/i.test(name))).toEqual([]);
    const list = await callSandbox(sandbox, 'GET /app/installations?limit=1000', { token: jwt });
    expect(list.body.installations).toContainEqual(answer.body);
    const mint = `POST /app/installations/${installationId}/accessTokens`;
    expect((await callSandbox(sandbox, mint, { token: jwt })).status).toBe(403);
    expect((await callSandbox(sandbox, `GET /organizations/${organization.id}`, { token })).status).toBe(403);
    expect((await callSandbox(sandbox, 'GET /projects', { token })).status).toBe(403);

    sandbox.registry.installations.unsuspend(installationId);
    expect((await callSandbox(sandbox, `GET /organizations/${organization.id}`, { token })).status).toBe(200);
    expect((await callSandbox(sandbox, mint, { token: jwt })).status).toBe(200);
  });

  test('after an uninstall its GET answers 404, its tokens are invalid and a new installation has another id', async () => {
    const { installationId, organization, token } = installApp(sandbox, { app });
    sandbox.registry.installations.uninstall(installationId);
    expect(
      (await callSandbox(sandbox, `GET /app/installations/${installationId}`, { token: jwt })).status,
    ).toBe(404);
    const ofOrganization = `GET /app/organizations/${organization.id}/installation`;
    expect((await callSandbox(sandbox, ofOrganization, { token: jwt })).status).toBe(404);
    const mint = `POST /app/installations/${installationId}/accessTokens`;
    expect((await callSandbox(sandbox, mint, { token: jwt })).status).toBe(404);
    expect((await callSandbox(sandbox, `GET /organizations/${organization.id}`, { token })).status).toBe(403);
    const again = installApp(sandbox, { app, organization });
    expect(again.installationId).not.toBe(installationId);
    expect((await callSandbox(sandbox, `GET /organizations/${organization.id}`, { token })).status).toBe(403);
  });

  test('an installation access token expires after exactly 2 hours', async () => {
    const { clock } = sandbox.registry.store;
    clock.freeze();
    const { organization, token } = installApp(sandbox, { app });
    const read = `GET /organizations/${organization.id}`;
    clock.shiftTime(TWO_HOURS_MS - 1);
    expect((await callSandbox(sandbox, read, { token })).status).toBe(200);
    clock.shiftTime(1);
    const { status, body } = await callSandbox(sandbox, read, { token });
    expect(status).toBe(403);
    expect(body.message).toMatch(/^Access token invalid/);
    clock.resume();
  });
});

describe('an installation id can be found', () => {
  test('by GET /app/installations, by GET /app/organizations/<organization_id>/installation and in a webhook', async () => {
    const { installationId, organization } = installApp(sandbox, { app });
    const list = await callSandbox(sandbox, 'GET /app/installations?limit=1000', { token: jwt });
    const ids = list.body.installations.map((installation: { id: string }) => installation.id);
    expect(ids).toContain(installationId);
    const answer = await callSandbox(sandbox, `GET /app/organizations/${organization.id}/installation`, {
      token: jwt,
    });
    expect(answer.body.id).toBe(installationId);
  });
});

describe('two apps on one organization', () => {
  test('each lists only its own installation and cannot mint tokens for the other’s', async () => {
    const organization = createOrganization(sandbox);
    const [one, two] = [installApp(sandbox, { organization }), installApp(sandbox, { organization })];
    for (const [mine, other] of [
      [one, two],
      [two, one],
    ] as const) {
      const token = signAppJwt(sandbox, mine.app);
      const list = await callSandbox(sandbox, 'GET /app/installations', { token });
      expect(list.body.installations.map((each: { id: string }) => each.id)).toEqual([mine.installationId]);
      expect(
        (await callSandbox(sandbox, `GET /app/installations/${other.installationId}`, { token })).status,
      ).toBe(404);
      const mint = `POST /app/installations/${other.installationId}/accessTokens`;
      expect((await callSandbox(sandbox, mint, { token })).status).toBe(404);
    }
  });

  test('uninstalling one app leaves the tokens of the other valid', async () => {
    const organization = createOrganization(sandbox);
    const [one, two] = [installApp(sandbox, { organization }), installApp(sandbox, { organization })];
    sandbox.registry.installations.uninstall(one.installationId);
    expect(
      (await callSandbox(sandbox, `GET /organizations/${organization.id}`, { token: one.token })).status,
    ).toBe(403);
    expect(
      (await callSandbox(sandbox, `GET /organizations/${organization.id}`, { token: two.token })).status,
    ).toBe(200);
  });

  test('each call is attributed to its app and installation, even if it is refused', async () => {
    const organization = createOrganization(sandbox);
    const [one, two] = [installApp(sandbox, { organization }), installApp(sandbox, { organization })];
    await callSandbox(sandbox, `GET /organizations/${organization.id}`, { token: one.token });
    await callSandbox(sandbox, `GET /organizations/${crypto.randomUUID()}`, { token: two.token });
    for (const [mine, status] of [
      [one, 200],
      [two, 403],
    ] as const) {
      const { body } = await callSandbox(
        sandbox,
        `GET /_sandbox/calls?installationId=${mine.installationId}`,
      );
      expect(body.calls).toMatchObject([
        { method: 'GET', status, appId: mine.app.id, version: '2023-06-16' },
      ]);
    }
  });

  test('a reservation of the other app names its reserver and cannot be cancelled or finished', async () => {
    const organization = createOrganization(sandbox);
    const [one, two] = [installApp(sandbox, { organization }), installApp(sandbox, { organization })];
    const creditId = issueCredit(sandbox, organization.id);
    const queue = `/organizations/${organization.id}/warehouse/inventory/reservations`;
    const body = { creditId, amount: 1 };
    const { id } = (await callSandbox(sandbox, `POST ${queue}`, { token: one.token, body })).body;
    expect((await callSandbox(sandbox, `DELETE ${queue}/${id}`, { token: two.token })).status).toBe(403);
    const retirementData = { reason: 'Other', beneficiaryName: 'Two' };
    const finish = { token: two.token, body: { retirementData } };
    expect((await callSandbox(sandbox, `POST ${queue}/${id}/retire`, finish)).status).toBe(403);
    const seen = await callSandbox(sandbox, `GET ${queue}/${id}`, { token: two.token });
    expect(seen.body).toMatchObject({
      state: 'outstanding',
      reserver: { id: one.app.id, name: one.app.name },
    });
    expect((await callSandbox(sandbox, `DELETE ${queue}/${id}`, { token: one.token })).status).toBe(200);
  });

  test('every reservation, request and transaction records the app that made it', async () => {
    const organization = createOrganization(sandbox);
    const creditId = issueCredit(sandbox, organization.id);
    sandbox.registry.credits.issue({ organizationId: organization.id, creditId, amount: 10 });
    const root = `/organizations/${organization.id}`;
    const retirementData = { reason: 'Other', beneficiaryName: 'Ada' };
    for (const { app: maker, token } of [
      installApp(sandbox, { organization }),
      installApp(sandbox, { organization }),
    ]) {
      const queue = `${root}/warehouse/inventory/reservations`;
      const reservation = await callSandbox(sandbox, `POST ${queue}`, {
        token,
        body: { creditId, amount: 1 },
      });
      await callSandbox(sandbox, `POST ${queue}/${reservation.body.id}/retire`, {
        token,
        body: { retirementData },
      });
      const body = { creditId, amount: 1, retirementData };
      const request = await callSandbox(sandbox, `POST ${root}/inventory/requests/retire`, { token, body });
      sandbox.registry.requests.accept(request.body.id);
      const { reservations, requests } = sandbox.registry.store.tables;
      expect(reservations.get(reservation.body.id)?.appId).toBe(maker.id);
      expect(requests.get(request.body.id)?.appId).toBe(maker.id);
      const { body: listed } = await callSandbox(sandbox, 'GET /_sandbox/transactions?limit=2');
      expect(listed.transactions).toMatchObject([
        { appId: maker.id, requestId: request.body.id },
        { appId: maker.id, reservationId: reservation.body.id },
      ]);
    }
  });
});
