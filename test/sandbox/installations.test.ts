import { describe, expect, test } from 'vitest';
import {
  ALL_PERMISSIONS,
  callSandbox,
  createCaller,
  createControlCaller,
  createOrganization,
  type Installed,
  installApp,
  issueCredit,
  mintToken,
  registerApp,
  signAppJwt,
  startSandboxForFile,
} from '../support/sandbox.js';

const TWO_HOURS_MS = 2 * 60 * 60 * 1000;

const sandbox = await startSandboxForFile();
const control = createControlCaller(sandbox);
const { registry } = sandbox;
const app = registerApp(sandbox);
const callAsApp = createCaller(sandbox, signAppJwt(sandbox, app));

/** Returns the calls of an installation, and the status of each with its token. */
function openInstallation(options: Partial<Installed> = {}) {
  const installed = installApp(sandbox, { app, ...options });
  const call = createCaller(sandbox, installed.token);
  const root = `/organizations/${installed.organization.id}`;
  const readStatus = async () => (await call(`GET ${root}`)).status;
  const mint = `POST /app/installations/${installed.installationId}/accessTokens`;
  return { ...installed, call, root, readStatus, mint };
}

describe('an organization that an app created', () => {
  test('receives what the app bought, has its user as member, and is claimed once', async () => {
    const { call, root, organization: seller } = openInstallation();
    const creditId = issueCredit(sandbox, seller.id);
    const queue = `POST ${root}/warehouse/inventory/reservations`;
    const { id } = (await call(queue, { creditId, amount: 3 })).body;
    const buyer = {
      user: { email: 'Buyer@people.example', fullName: 'Buyer' },
      organization: { fullName: 'Buyer', type: 'other' },
    };
    const { organization, installation } = (await callAsApp('POST /app/create/user/organization', buyer))
      .body;
    expect((await call(`${queue}/${id}/transfer`, { receiverId: organization.id })).status).toBe(200);
    const callAsBuyer = createCaller(sandbox, mintToken(sandbox, app, installation.id));
    const { credits } = (await callAsBuyer(`GET /organizations/${organization.id}/inventory`)).body;
    expect(credits).toMatchObject([{ id: creditId, amount: 3 }]);
    const { members } = (await callAsBuyer(`GET /organizations/${organization.id}/members`)).body;
    expect(members).toMatchObject([{ email: 'buyer@people.example', fullName: 'Buyer' }]);
    const claim = `POST /organizations/${organization.id}/claim`;
    expect([(await control(claim)).status, (await control(claim)).status]).toEqual([200, 409]);
  });

  test.each<[user: object, organization: object, expected: object]>([
    [{ profilePicture: '' }, {}, { user: { profilePicture: '' } }],
    [
      { fullName: undefined, profilePicture: undefined },
      { countryCode: undefined },
      { user: { profilePicture: null }, organization: { countryCode: null } },
    ],
    [
      { fullName: null, profilePicture: null },
      { countryCode: null },
      { user: { profilePicture: null }, organization: { countryCode: null } },
    ],
    [{ nickname: 'unknown' }, { size: 3 }, {}],
    [
      {},
      { fullName: `Robert'); drop table organizations;-- 🌱 <b>\u0000` },
      { organization: { fullName: `Robert'); drop table organizations;-- 🌱 <b>\u0000` } },
    ],
    ...['projectProponent', 'projectDeveloper', 'marketParticipant', 'other', 'validationBody'].map(
      (type): [object, object, object] => [{}, { type }, { organization: { type } }],
    ),
  ])('may be created with the user %j and the organization %j', async (user, organization, expected) => {
    const name = crypto.randomUUID();
    const created = await callAsApp('POST /app/create/user/organization', {
      user: { email: `${name}@people.example`, ...user },
      organization: { fullName: name, type: 'other', ...organization },
    });
    expect(created).toMatchObject({ status: 200, body: expected });
  });
});

describe('an installation', () => {
  test('that is suspended stays listed and readable, without a state, and gets no tokens', async () => {
    const { installationId, call, readStatus, mint } = openInstallation();
    registry.installations.suspend(installationId);
    const answer = await callAsApp(`GET /app/installations/${installationId}`);
    expect(answer.status).toBe(200);
    expect(Object.keys(answer.body).filter(name => /state|suspend|status|active/i.test(name))).toEqual([]);
    const { installations } = (await callAsApp('GET /app/installations?limit=1000')).body;
    expect(installations).toContainEqual(answer.body);
    const suspended = { statusCode: 403, message: 'The installation is suspended', error: 'Forbidden' };
    expect((await callAsApp(mint)).body).toEqual(suspended);
    expect([await readStatus(), (await call('GET /projects')).status]).toEqual([403, 403]);
    registry.installations.unsuspend(installationId);
    expect([await readStatus(), (await callAsApp(mint)).status]).toEqual([200, 200]);
  });

  test('that is uninstalled is not found, has no valid tokens, and is replaced by one with another id', async () => {
    const { installationId, organization, readStatus, mint } = openInstallation();
    registry.installations.uninstall(installationId);
    const ofOrganization = `GET /app/organizations/${organization.id}/installation`;
    for (const path of [`GET /app/installations/${installationId}`, ofOrganization, mint])
      expect((await callAsApp(path)).status, path).toBe(404);
    expect(await readStatus()).toBe(403);
    expect(openInstallation({ organization }).installationId).not.toBe(installationId);
    expect(await readStatus()).toBe(403);
  });

  test('is found only by its own app, also if another app is on the same organization', async () => {
    const organization = createOrganization(sandbox);
    const [one, two] = [installApp(sandbox, { organization }), installApp(sandbox, { organization })];
    for (const [mine, other] of [
      [one, two],
      [two, one],
    ] as const) {
      const call = createCaller(sandbox, signAppJwt(sandbox, mine.app));
      const { installations } = (await call('GET /app/installations')).body;
      expect(installations.map(({ id }: { id: string }) => id)).toEqual([mine.installationId]);
      const ofOrganization = await call(`GET /app/organizations/${organization.id}/installation`);
      expect(ofOrganization.body.id).toBe(mine.installationId);
      expect((await call(`GET /app/installations/${other.installationId}`)).status).toBe(404);
      expect((await call(`POST /app/installations/${other.installationId}/accessTokens`)).status).toBe(404);
    }
    const stranger = createCaller(sandbox, signAppJwt(sandbox, registerApp(sandbox)));
    expect((await stranger(`GET /app/organizations/${organization.id}/installation`)).status).toBe(404);
    registry.installations.uninstall(one.installationId);
    for (const [{ token }, status] of [
      [one, 403],
      [two, 200],
    ] as const)
      expect((await callSandbox(sandbox, `GET /organizations/${organization.id}`, { token })).status).toBe(
        status,
      );
  });
});

describe('an access token', () => {
  test('of an installation expires after exactly 2 hours', async () => {
    const { clock } = registry.store;
    clock.freeze();
    const { call, root, readStatus, mint } = openInstallation();
    const { createdAt, expiresAt } = (await createCaller(sandbox, signAppJwt(sandbox, app))(mint)).body;
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(TWO_HOURS_MS);
    clock.shiftTime(TWO_HOURS_MS - 1);
    expect(await readStatus()).toBe(200);
    clock.shiftTime(1);
    const message = expect.stringMatching(/^Access token invalid/);
    expect(await call(`GET ${root}`)).toMatchObject({ status: 403, body: { message } });
    clock.shiftTime(-TWO_HOURS_MS);
    clock.resume();
  });

  test.each(['an app', 'an installation'])('of %s ends alone when it is revoked', async kind => {
    const { installationId } = openInstallation();
    const id = kind === 'an app' ? undefined : installationId;
    const [ended, other] = [mintToken(sandbox, app, id), mintToken(sandbox, app, id)];
    const callWithEnded = createCaller(sandbox, ended);
    const revoke = 'DELETE /app/installations/token';
    expect((await callWithEnded('GET /projects')).status).toBe(200);
    expect(await callWithEnded(revoke)).toMatchObject({ status: 200, body: {} });
    expect((await callWithEnded('GET /projects')).status).toBe(403);
    expect((await callWithEnded(revoke)).status).toBe(403);
    expect((await callSandbox(sandbox, 'GET /projects', { token: other })).status).toBe(200);
  });

  test('ends alone when the control API expires it', async () => {
    const { mint, root, readStatus } = openInstallation();
    const made = (await callAsApp(mint)).body;
    const call = createCaller(sandbox, made.token);
    expect((await call(`GET ${root}`)).status).toBe(200);
    const ended = await control(`POST /tokens/${made.id}/expire`);
    expect(ended).toMatchObject({ status: 200, body: { id: made.id, isActive: false } });
    const message = 'Access token invalid: it has expired';
    expect(await call(`GET ${root}`)).toMatchObject({ status: 403, body: { message } });
    expect(await readStatus()).toBe(200);
    const { tokens } = (await control('GET /tokens?limit=1')).body;
    expect(tokens).toEqual([ended.body]);
    expect(JSON.stringify(tokens)).not.toContain('crs_');
  });
});

describe('permissions', () => {
  test('of an installation change when they are accepted; a token loses them, but gains none', async () => {
    const { app: own, installationId, root, ...first } = openInstallation({ app: registerApp(sandbox) });
    const readGranted = () =>
      registry.tokens.mint(own.id, registry.installations.getActive(own.id, installationId)).permissions;
    const accept = (permissions: object) => {
      registry.apps.change(own.id, { permissions });
      return registry.installations.acceptPermissions(installationId);
    };
    expect(readGranted()).toEqual(ALL_PERMISSIONS);
    registry.apps.change(own.id, { permissions: { organization_inventory: 'VIEW' } });
    expect(readGranted()).toEqual(ALL_PERMISSIONS);
    accept({ organization_inventory: 'VIEW' });
    expect(readGranted()).toEqual({ organization_info: 'VIEW', organization_inventory: 'VIEW' });
    expect((await first.call(`GET ${root}/members`)).status).toBe(403);
    expect((await first.call(`GET ${root}/inventory`)).status).toBe(200);
    const poor = createCaller(sandbox, mintToken(sandbox, own, installationId));
    accept(ALL_PERMISSIONS);
    expect((await poor(`GET ${root}/members`)).status).toBe(403);
    const rich = createCaller(sandbox, mintToken(sandbox, own, installationId));
    expect((await rich(`GET ${root}/members`)).status).toBe(200);
  });

  test('include organization_info unless the app leaves it out, until it requests it', () => {
    const info = { organization_info: 'VIEW' };
    const members = registry.apps.register({ name: 'members', permissions: ['organization_members:read'] });
    expect(members.permissions).toEqual({ ...info, organization_members: 'VIEW' });
    const { id } = registerApp(sandbox, {
      permissions: { organization_warehouse: 'VIEW' },
      organizationInfo: false,
    });
    expect(registry.apps.get(id).permissions).toEqual({ organization_warehouse: 'VIEW' });
    registry.apps.change(id, { permissions: { organization_warehouse: 'WRITE' } });
    expect(registry.apps.get(id).permissions).toEqual({ organization_warehouse: 'WRITE' });
    registry.apps.change(id, { organizationInfo: true });
    expect(registry.apps.get(id).permissions).toEqual({ ...info, organization_warehouse: 'WRITE' });
  });

  test.each([
    ['organization_projects:read', { organization_projects: 'VIEW' }],
    ['examiner:read', { examiner: 'VIEW' }],
    ['organization_inventory:request', { organization_inventory: 'REQUEST' }],
    ['organization_inventory:read_write', { organization_inventory: 'WRITE' }],
  ])('can be requested as the name %s and as a level', (word, level) => {
    const { id } = registerApp(sandbox, { permissions: level });
    const expected = { organization_info: 'VIEW', ...level };
    expect(registry.apps.get(id).permissions).toEqual(expected);
    expect(registry.apps.change(id, { permissions: [word] }).permissions).toEqual(expected);
  });
});

describe('attribution to an app', () => {
  test('each call is logged with its app and installation, even if it is refused', async () => {
    const organization = createOrganization(sandbox);
    for (const [path, status] of [
      [organization.id, 200],
      [crypto.randomUUID(), 403],
    ]) {
      const {
        app: caller,
        installationId,
        call,
      } = openInstallation({ app: registerApp(sandbox), organization });
      await call(`GET /organizations/${path}`);
      const logged = [{ method: 'GET', status, appId: caller.id, version: '2023-06-16' }];
      expect((await control(`GET /calls?installationId=${installationId}`)).body.calls).toMatchObject(logged);
    }
  });

  test('each reservation, request and transaction names its app, and other apps cannot end a reservation', async () => {
    const organization = createOrganization(sandbox);
    const creditId = issueCredit(sandbox, organization.id);
    registry.credits.issue({ organizationId: organization.id, creditId, amount: 10 });
    const retirementData = { reason: 'Other', beneficiaryName: 'Ada' };
    const body = { creditId, amount: 1, retirementData };
    const [one, two] = [
      openInstallation({ app: registerApp(sandbox), organization }),
      openInstallation({ app: registerApp(sandbox), organization }),
    ];
    for (const [mine, other] of [
      [one, two],
      [two, one],
    ] as const) {
      const queue = `${mine.root}/warehouse/inventory/reservations`;
      const { id } = (await mine.call(`POST ${queue}`, body)).body;
      expect((await other.call(`DELETE ${queue}/${id}`)).status).toBe(403);
      expect((await other.call(`POST ${queue}/${id}/retire`, body)).status).toBe(403);
      const reserver = { id: mine.app.id, name: mine.app.name };
      const seen = (await other.call(`GET ${queue}/${id}`)).body;
      expect(seen).toMatchObject({ state: 'outstanding', reserver });
      await mine.call(`POST ${queue}/${id}/retire`, body);
      const request = (await mine.call(`POST ${mine.root}/inventory/requests/retire`, body)).body;
      await control(`POST /requests/${request.id}/accept`);
      const { reservations, requests } = registry.store.tables;
      expect([reservations.get(id)?.appId, requests.get(request.id)?.appId]).toEqual(
        Array(2).fill(mine.app.id),
      );
      expect((await control('GET /transactions?limit=2')).body.transactions).toMatchObject([
        { appId: mine.app.id, requestId: request.id },
        { appId: mine.app.id, reservationId: id },
      ]);
    }
  });
});
