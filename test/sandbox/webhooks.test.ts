import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  callSandbox,
  createCaller,
  createControlCaller,
  createOrganization,
  createTemporarySandboxFolder,
  installApp,
  issueCredit,
  registerApp,
  retireFromWarehouse,
  signAppJwt,
  startTemporarySandbox,
  startTestSandbox,
} from '../support/sandbox.js';
import { type Post, receiveWebhooks } from '../support/webhook-receiver.js';

const SECRET = 'a secret of some length';
const retirementData = { reason: 'Other', beneficiaryName: 'Ada' };

/** Installs an app with a webhook URL on an organization. The returned functions wait until nothing is being delivered. */
async function openScene(settings: object = {}) {
  const sandbox = await startTemporarySandbox();
  const receiver = await receiveWebhooks();
  const app = registerApp(sandbox, { webhookUrl: receiver.url, webhookSecret: SECRET });
  const installed = installApp(sandbox, { app });
  const { installations, deliveries } = sandbox.registry;
  const control = createControlCaller(sandbox);
  await deliveries.waitUntilSettled();
  await control('PATCH /webhooks', settings);
  const listPosts = async () => {
    await deliveries.waitUntilSettled();
    return receiver.posts;
  };
  return {
    ...installed,
    sandbox,
    receiver,
    deliveries,
    control,
    call: createCaller(sandbox, installed.token),
    root: `/organizations/${installed.organization.id}`,
    listPosts,
    /** Lists the events after the first one, `installed`. */
    listEvents: async () => (await listPosts()).slice(1).map(({ event }) => event),
    suspend: () => installations.suspend(installed.installationId),
    resume: () => installations.unsuspend(installed.installationId),
  };
}

function decodePost(post: Post | undefined) {
  const { signedData, ...outer } = JSON.parse(post?.body ?? '{}');
  return { outer, signedData, signed: JSON.parse(Buffer.from(signedData, 'base64').toString('utf8')) };
}

describe('a webhook', () => {
  test('includes the installation and is signed over the text of signedData', async () => {
    const { receiver, installationId, app, organization } = await openScene();
    const [post] = receiver.posts;
    const { outer, signed, signedData } = decodePost(post);
    expect(signed).toEqual(outer);
    expect(Object.keys(signed)).toEqual(['event', 'installation', 'sender']);
    expect(signed).toMatchObject({
      event: 'installed',
      installation: { id: installationId, appId: app.id, organization: { id: organization.id } },
      sender: { fullName: 'Ada Admin', email: expect.any(String) },
    });
    const signature = `sha256=${createHmac('sha256', SECRET).update(signedData).digest('hex')}`;
    const headers = { 'content-type': 'application/json', 'x-registry-signature-256': signature };
    expect(post?.headers).toMatchObject(headers);
  });

  test('has no signature if the app has no secret, and is not sent to an app without a URL', async () => {
    const sandbox = await startTemporarySandbox();
    const receiver = await receiveWebhooks();
    installApp(sandbox, { app: registerApp(sandbox, { webhookUrl: receiver.url }) });
    installApp(sandbox, { app: registerApp(sandbox) });
    await sandbox.registry.deliveries.waitUntilSettled();
    expect(receiver.posts).toHaveLength(1);
    expect(receiver.posts[0]?.headers).not.toHaveProperty('x-registry-signature-256');
    expect(sandbox.registry.deliveries.list(10)).toHaveLength(1);
  });

  test('is signed in a header with the prefix of the sandbox', async () => {
    const sandbox = await startTemporarySandbox({ headerPrefix: 'icr' });
    const receiver = await receiveWebhooks();
    installApp(sandbox, { app: registerApp(sandbox, { webhookUrl: receiver.url, webhookSecret: SECRET }) });
    await sandbox.registry.deliveries.waitUntilSettled();
    expect(receiver.posts[0]?.headers['x-icr-signature-256']).toMatch(/^sha256=[0-9a-f]{64}$/);
  });
});

describe('the events', () => {
  test('of an installation are sent in order', async () => {
    const { sandbox, installationId, suspend, resume, listEvents } = await openScene();
    suspend();
    resume();
    sandbox.registry.installations.acceptPermissions(installationId);
    sandbox.registry.installations.uninstall(installationId);
    const events = ['suspended', 'unsuspended', 'newPermissionsAccepted', 'uninstalled'];
    expect(await listEvents()).toEqual(events);
  });

  test('include installed when an app creates a user and an organization', async () => {
    const { sandbox, app, listPosts } = await openScene();
    const body = { user: { email: 'new@people.example' }, organization: { fullName: 'New', type: 'other' } };
    const token = signAppJwt(sandbox, app);
    const created = await callSandbox(sandbox, 'POST /app/create/user/organization', { token, body });
    const installation = { id: created.body.installation.id };
    expect(decodePost((await listPosts())[1]).signed).toMatchObject({ event: 'installed', installation });
  });

  test('warehouseTransaction and organizationTransaction tell both sides of a finished reservation', async () => {
    const { sandbox, app, organization, installationId, call, root, listPosts } = await openScene();
    const buyer = installApp(sandbox, { app });
    const creditId = issueCredit(sandbox, organization.id);
    const queue = `POST ${root}/warehouse/inventory/reservations`;
    const { id } = (await call(queue, { creditId, amount: 2.5 })).body;
    await call(`${queue}/${id}/transfer`, { receiverId: buyer.organization.id });
    const payloads = (await listPosts()).slice(2).map(post => decodePost(post).signed);
    expect(payloads).toMatchObject([
      { event: 'warehouseTransaction', installation: { id: installationId } },
      { event: 'organizationTransaction', installation: { id: buyer.installationId } },
    ]);
    expect(Object.keys(payloads[0])).toEqual(['event', 'transaction', 'installation']);
    expect(payloads[0].transaction).toEqual({
      id: expect.any(String),
      creditId,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      status: 'processed',
      type: 'transfer',
      amount: 2.5,
    });
  });

  test('include organizationTransaction for an accepted request, and nothing for a declined one', async () => {
    const { control, organization, sandbox, call, root, listEvents } = await openScene();
    const creditId = issueCredit(sandbox, organization.id, { place: 'inventory' });
    for (const decision of ['decline', 'accept']) {
      const order = { creditId, amount: 1, retirementData };
      const { id } = (await call(`POST ${root}/inventory/requests/retire`, order)).body;
      await control(`POST /requests/${id}/${decision}`);
    }
    expect(await listEvents()).toEqual(['organizationTransaction']);
  });

  test('go to every app on the organization unless it may not read the warehouse or is suspended', async () => {
    const { sandbox, receiver, app, organization, listEvents } = await openScene();
    const wish = { webhookUrl: receiver.url };
    const second = installApp(sandbox, { organization, app: registerApp(sandbox, wish) });
    const blind = registerApp(sandbox, { ...wish, permissions: { organization_info: 'VIEW' } });
    installApp(sandbox, { organization, app: blind });
    const suspended = installApp(sandbox, { organization, app: registerApp(sandbox, wish) });
    sandbox.registry.installations.suspend(suspended.installationId);
    await listEvents();
    receiver.posts.length = 1;

    const creditId = issueCredit(sandbox, organization.id);
    retireFromWarehouse(sandbox, { organizationId: organization.id, appId: app.id, creditId }, 1);
    expect(await listEvents()).toEqual(['warehouseTransaction', 'warehouseTransaction']);
    const appIds = receiver.posts.map(post => decodePost(post).signed.installation.appId);
    expect(appIds).toEqual(expect.arrayContaining([app.id, second.app.id]));
  });

  test('do not include issuing, depositing, reserving, cancelling or friendbot', async () => {
    const { sandbox, organization, call, root, listEvents } = await openScene();
    const creditId = issueCredit(sandbox, organization.id, { place: 'inventory' });
    sandbox.registry.credits.deposit(organization.id, { creditId, amount: 5 });
    const queue = `${root}/warehouse/inventory/reservations`;
    const { id } = (await call(`POST ${queue}`, { creditId, amount: 1 })).body;
    await call(`DELETE ${queue}/${id}`);
    await call(`GET ${root}/friendbot`);
    expect(await listEvents()).toEqual([]);
  });
});

describe('delivery', () => {
  test('is attempted once by default, and the attempt is recorded', async () => {
    const { control, receiver, suspend, listEvents } = await openScene();
    receiver.status = 500;
    suspend();
    expect(await listEvents()).toEqual(['suspended']);
    expect((await control('GET /deliveries')).body.deliveries).toMatchObject([
      { event: 'suspended', state: 'failed', attempts: [{ status: 500, error: null }] },
      { event: 'installed', state: 'delivered', attempts: [{ status: 202, error: null }] },
    ]);
  });

  test('is retried with backoff if configured, and every attempt is recorded', async () => {
    const { receiver, deliveries, suspend, resume } = await openScene({ attempts: 3, backoffMs: 20 });
    receiver.status = 503;
    suspend();
    await deliveries.waitUntilSettled();
    const failures = [{ status: 503 }, { status: 503 }, { status: 503 }];
    expect(deliveries.list(1)).toMatchObject([{ state: 'failed', attempts: failures }]);
    receiver.status = 202;
    receiver.failures = 1;
    resume();
    await deliveries.waitUntilSettled();
    const attempts = [{ status: 503 }, { status: 202 }];
    expect(deliveries.list(1)).toMatchObject([{ state: 'delivered', attempts }]);
  });

  test('that times out or is refused fails with a reason', async () => {
    const { control, receiver, deliveries, app, suspend, resume } = await openScene({ timeoutMs: 50 });
    receiver.status = 0;
    suspend();
    await deliveries.waitUntilSettled();
    await control(`PATCH /apps/${app.id}`, { webhookUrl: 'http://127.0.0.1:1/' });
    resume();
    await deliveries.waitUntilSettled();
    const errors = deliveries.list(2).map(({ attempts }) => attempts[0]?.error);
    expect(errors).toEqual([expect.any(String), expect.stringMatching(/timeout/i)]);
  });

  test('can be repeated with the same bytes', async () => {
    const { control, deliveries, listPosts } = await openScene();
    const [first] = deliveries.list(1);
    expect((await control(`POST /deliveries/${first?.id}/resend`)).body.copyOf).toBe(first?.id);
    const [original, copy] = await listPosts();
    expect(copy?.body).toBe(original?.body);
  });

  test('that was pending at a stop happens after the restart', async () => {
    const folder = createTemporarySandboxFolder();
    const receiver = await receiveWebhooks();
    const { sandbox: first, stop } = await startTestSandbox({ folder });
    const app = registerApp(first, { webhookUrl: receiver.url });
    first.registry.deliveries.changeSettings({ delayMs: 60_000 });
    first.registry.installations.install(app.id, createOrganization(first).id);
    await stop();
    const second = await startTemporarySandbox({ folder, wallClock: () => Date.now() + 120_000 });
    await second.registry.deliveries.waitUntilSettled();
    expect(receiver.posts.map(({ event }) => event)).toEqual(['installed']);
  });
});

describe('the delivery setting', () => {
  test('drop loses this many of the next deliveries', async () => {
    const { deliveries, suspend, resume, listEvents } = await openScene({ drop: 1 });
    suspend();
    resume();
    expect(await listEvents()).toEqual(['unsuspended']);
    expect(deliveries.list(2).map(({ state }) => state)).toEqual(['delivered', 'dropped']);
  });

  test('duplicate sends further copies of each delivery', async () => {
    const { suspend, resume, listEvents } = await openScene({ duplicate: 2 });
    suspend();
    resume();
    const copies = [...Array(3).fill('suspended'), ...Array(3).fill('unsuspended')];
    expect((await listEvents()).toSorted()).toEqual(copies);
  });

  test('reorder sends a group in reverse order', async () => {
    const { suspend, resume, listEvents } = await openScene({ reorder: 2 });
    suspend();
    resume();
    expect(await listEvents()).toEqual(['unsuspended', 'suspended']);
  });

  test('delay lets later deliveries arrive first', async () => {
    const { control, suspend, resume, listEvents } = await openScene({ delayMs: 200 });
    suspend();
    await control('PATCH /webhooks', { delayMs: 0 });
    resume();
    expect(await listEvents()).toEqual(['unsuspended', 'suspended']);
  });

  test('hold keeps each delivery until it is released, in any order, or dropped', async () => {
    const { control, deliveries, suspend, resume, listEvents } = await openScene({ hold: true });
    for (const change of [suspend, resume, suspend, resume]) change();
    expect(await listEvents()).toEqual([]);
    const [four, three, two, one] = deliveries.list(4).map(({ id }) => id);
    expect((await control('POST /deliveries/release', { ids: [three, one, four] })).status).toBe(200);
    await control(`POST /deliveries/${two}/drop`);
    expect(await listEvents()).toEqual(['suspended', 'suspended', 'unsuspended']);
    expect((await control('POST /deliveries/release', { ids: [one] })).status).toBe(409);
  });
});
