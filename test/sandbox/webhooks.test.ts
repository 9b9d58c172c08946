import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/start.js';
import {
  callSandbox,
  createOrganization,
  type Installed,
  installApp,
  issueCredit,
  registerApp,
  createTemporarySandboxFolder,
  signAppJwt,
  startTestSandbox,
  startTemporarySandbox,
} from '../support/sandbox.js';
import { type Post, type Receiver, receiveWebhooks } from '../support/webhook-receiver.js';

const SECRET = 'a secret of some length';
const retirementData = { reason: 'Other', beneficiaryName: 'Ada' };

interface Scene extends Installed {
  readonly sandbox: Sandbox;
  readonly receiver: Receiver;
}

async function openScene(): Promise<Scene> {
  const sandbox = await startTemporarySandbox();
  const receiver = await receiveWebhooks();
  const app = registerApp(sandbox, { webhookUrl: receiver.url, webhookSecret: SECRET });
  const scene = { sandbox, receiver, ...installApp(sandbox, { app }) };
  await sandbox.registry.deliveries.waitUntilSettled();
  return scene;
}

function decodePost(post: Post | undefined) {
  const { signedData, ...outer } = JSON.parse(post?.body ?? '{}');
  return { outer, signedData, signed: JSON.parse(Buffer.from(signedData, 'base64').toString('utf8')) };
}

function listEvents({ posts }: Receiver): string[] {
  return posts.map(({ event }) => event);
}

test('each webhook includes the installation id and is signed over the text of signedData', async () => {
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
  expect(post?.headers['content-type']).toBe('application/json');
  expect(post?.headers['x-registry-signature-256']).toBe(
    `sha256=${createHmac('sha256', SECRET).update(signedData).digest('hex')}`,
  );
});

test('an app without a secret gets no signature, and one without a URL gets no webhook', async () => {
  const sandbox = await startTemporarySandbox();
  const receiver = await receiveWebhooks();
  installApp(sandbox, { app: registerApp(sandbox, { webhookUrl: receiver.url }) });
  installApp(sandbox, { app: registerApp(sandbox) });
  await sandbox.registry.deliveries.waitUntilSettled();
  expect(receiver.posts).toHaveLength(1);
  expect(receiver.posts[0]?.headers).not.toHaveProperty('x-registry-signature-256');
  expect(sandbox.registry.deliveries.list(10)).toHaveLength(1);
});

test('the signature header has the prefix of the sandbox', async () => {
  const sandbox = await startTemporarySandbox({ headerPrefix: 'icr' });
  const receiver = await receiveWebhooks();
  installApp(sandbox, { app: registerApp(sandbox, { webhookUrl: receiver.url, webhookSecret: SECRET }) });
  await sandbox.registry.deliveries.waitUntilSettled();
  expect(receiver.posts[0]?.headers['x-icr-signature-256']).toMatch(/^sha256=[0-9a-f]{64}$/);
});

test('the five installation events are sent in order', async () => {
  const { sandbox, receiver, installationId } = await openScene();
  const { installations, deliveries } = sandbox.registry;
  installations.suspend(installationId);
  installations.unsuspend(installationId);
  installations.acceptPermissions(installationId);
  installations.uninstall(installationId);
  await deliveries.waitUntilSettled();
  expect(listEvents(receiver)).toEqual([
    'installed',
    'suspended',
    'unsuspended',
    'newPermissionsAccepted',
    'uninstalled',
  ]);
});

test('creating a user and an organization sends installed', async () => {
  const { sandbox, receiver, app } = await openScene();
  const body = {
    user: { email: 'new@people.example' },
    organization: { fullName: 'New', type: 'other' },
  };
  const token = signAppJwt(sandbox, app);
  const created = await callSandbox(sandbox, 'POST /app/create/user/organization', { token, body });
  await sandbox.registry.deliveries.waitUntilSettled();
  expect(decodePost(receiver.posts[1]).signed).toMatchObject({
    event: 'installed',
    installation: { id: created.body.installation.id },
  });
});

describe('warehouseTransaction and organizationTransaction', () => {
  test('a finished reservation notifies the apps of both organizations', async () => {
    const { sandbox, receiver, app, organization, token, installationId } = await openScene();
    const buyer = installApp(sandbox, { app });
    const creditId = issueCredit(sandbox, organization.id);
    const queue = `/organizations/${organization.id}/warehouse/inventory/reservations`;
    const reservation = await callSandbox(sandbox, `POST ${queue}`, {
      token,
      body: { creditId, amount: 2.5 },
    });
    const body = { receiverId: buyer.organization.id };
    await callSandbox(sandbox, `POST ${queue}/${reservation.body.id}/transfer`, { token, body });
    await sandbox.registry.deliveries.waitUntilSettled();

    const payloads = receiver.posts.slice(2).map(post => decodePost(post).signed);
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

  test('an accepted request sends organizationTransaction, a declined one nothing', async () => {
    const { sandbox, receiver, organization, token } = await openScene();
    const creditId = issueCredit(sandbox, organization.id, { place: 'inventory' });
    const path = `POST /organizations/${organization.id}/inventory/requests/retire`;
    const body = { creditId, amount: 1, retirementData };
    const [one, two] = [
      await callSandbox(sandbox, path, { token, body }),
      await callSandbox(sandbox, path, { token, body }),
    ];
    sandbox.registry.requests.decline(one.body.id);
    sandbox.registry.requests.accept(two.body.id);
    await sandbox.registry.deliveries.waitUntilSettled();
    expect(listEvents(receiver)).toEqual(['installed', 'organizationTransaction']);
  });

  test('every app on the organization is notified unless it may not read the warehouse or is suspended', async () => {
    const { sandbox, receiver, organization, token } = await openScene();
    const wish = { webhookUrl: receiver.url };
    const second = installApp(sandbox, { organization, app: registerApp(sandbox, wish) });
    const blind = registerApp(sandbox, { ...wish, permissions: { organization_info: 'VIEW' } });
    installApp(sandbox, { organization, app: blind });
    const suspended = installApp(sandbox, { organization, app: registerApp(sandbox, wish) });
    sandbox.registry.installations.suspend(suspended.installationId);
    await sandbox.registry.deliveries.waitUntilSettled();
    receiver.posts.length = 0;

    const creditId = issueCredit(sandbox, organization.id);
    const queue = `/organizations/${organization.id}/warehouse/inventory/reservations`;
    const reservation = await callSandbox(sandbox, `POST ${queue}`, { token, body: { creditId, amount: 1 } });
    await callSandbox(sandbox, `POST ${queue}/${reservation.body.id}/retire`, {
      token,
      body: { retirementData },
    });
    await sandbox.registry.deliveries.waitUntilSettled();
    const payloads = receiver.posts.map(post => decodePost(post).signed);
    expect(payloads.map(({ event }) => event)).toEqual(['warehouseTransaction', 'warehouseTransaction']);
    expect(payloads.map(({ installation }) => installation.appId)).toContain(second.app.id);
  });

  test('issuing, depositing, reserving and cancelling send no webhook', async () => {
    const { sandbox, receiver, organization, token } = await openScene();
    const creditId = issueCredit(sandbox, organization.id, { place: 'inventory' });
    sandbox.registry.credits.deposit(organization.id, { creditId, amount: 5 });
    const queue = `/organizations/${organization.id}/warehouse/inventory/reservations`;
    const reservation = await callSandbox(sandbox, `POST ${queue}`, { token, body: { creditId, amount: 1 } });
    await callSandbox(sandbox, `DELETE ${queue}/${reservation.body.id}`, { token });
    await callSandbox(sandbox, `GET /organizations/${organization.id}/friendbot`, { token });
    await sandbox.registry.deliveries.waitUntilSettled();
    expect(listEvents(receiver)).toEqual(['installed']);
  });
});

describe('delivery', () => {
  test('is attempted once by default, and the attempt is recorded', async () => {
    const { sandbox, receiver, installationId } = await openScene();
    receiver.status = 500;
    sandbox.registry.installations.suspend(installationId);
    await sandbox.registry.deliveries.waitUntilSettled();
    expect(listEvents(receiver)).toEqual(['installed', 'suspended']);
    const { body } = await callSandbox(sandbox, 'GET /_sandbox/deliveries');
    expect(body.deliveries).toMatchObject([
      { event: 'suspended', state: 'failed', attempts: [{ status: 500, error: null }] },
      { event: 'installed', state: 'delivered', attempts: [{ status: 202, error: null }] },
    ]);
  });

  test('is retried with backoff if configured, and every attempt is recorded', async () => {
    const { sandbox, receiver, installationId } = await openScene();
    await callSandbox(sandbox, 'PATCH /_sandbox/webhooks', { body: { attempts: 3, backoffMs: 20 } });
    receiver.status = 503;
    sandbox.registry.installations.suspend(installationId);
    await sandbox.registry.deliveries.waitUntilSettled();
    const [failed] = sandbox.registry.deliveries.list(1);
    expect(failed).toMatchObject({
      state: 'failed',
      attempts: [{ status: 503 }, { status: 503 }, { status: 503 }],
    });

    receiver.status = 202;
    receiver.failures = 1;
    sandbox.registry.installations.unsuspend(installationId);
    await sandbox.registry.deliveries.waitUntilSettled();
    const [delivered] = sandbox.registry.deliveries.list(1);
    expect(delivered).toMatchObject({ state: 'delivered', attempts: [{ status: 503 }, { status: 202 }] });
  });

  test('a refused connection and a timeout are failed attempts with a reason', async () => {
    const { sandbox, receiver, app, installationId } = await openScene();
    await callSandbox(sandbox, 'PATCH /_sandbox/webhooks', { body: { timeoutMs: 50 } });
    receiver.status = 0;
    sandbox.registry.installations.suspend(installationId);
    await sandbox.registry.deliveries.waitUntilSettled();
    await callSandbox(sandbox, `PATCH /_sandbox/apps/${app.id}`, {
      body: { webhookUrl: 'http://127.0.0.1:1/' },
    });
    sandbox.registry.installations.unsuspend(installationId);
    await sandbox.registry.deliveries.waitUntilSettled();
    const errors = sandbox.registry.deliveries.list(2).map(({ attempts }) => attempts[0]?.error);
    expect(errors).toEqual([expect.any(String), expect.stringMatching(/timeout/i)]);
  });

  test('can be repeated with the same bytes', async () => {
    const { sandbox, receiver } = await openScene();
    const [first] = sandbox.registry.deliveries.list(1);
    const again = await callSandbox(sandbox, `POST /_sandbox/deliveries/${first?.id}/resend`);
    await sandbox.registry.deliveries.waitUntilSettled();
    expect(again.body.copyOf).toBe(first?.id);
    expect(receiver.posts[1]?.body).toBe(receiver.posts[0]?.body);
  });
});

describe('delivery settings', () => {
  async function openSceneWithSettings(settings: object) {
    const scene = await openScene();
    await callSandbox(scene.sandbox, 'PATCH /_sandbox/webhooks', { body: settings });
    const { installations, deliveries } = scene.sandbox.registry;
    const suspendAndResume = () => {
      installations.suspend(scene.installationId);
      installations.unsuspend(scene.installationId);
    };
    scene.receiver.posts.length = 0;
    return { ...scene, deliveries, suspendAndResume };
  }

  test('drop loses this many of the next deliveries', async () => {
    const { receiver, deliveries, suspendAndResume } = await openSceneWithSettings({ drop: 1 });
    suspendAndResume();
    await deliveries.waitUntilSettled();
    expect(listEvents(receiver)).toEqual(['unsuspended']);
    expect(deliveries.list(2).map(({ state }) => state)).toEqual(['delivered', 'dropped']);
  });

  test('duplicate sends further copies of each delivery', async () => {
    const { receiver, deliveries, suspendAndResume } = await openSceneWithSettings({ duplicate: 2 });
    suspendAndResume();
    await deliveries.waitUntilSettled();
    expect(listEvents(receiver).toSorted()).toEqual([
      'suspended',
      'suspended',
      'suspended',
      'unsuspended',
      'unsuspended',
      'unsuspended',
    ]);
  });

  test('reorder sends a group in reverse order', async () => {
    const { receiver, deliveries, suspendAndResume } = await openSceneWithSettings({ reorder: 2 });
    suspendAndResume();
    await deliveries.waitUntilSettled();
    expect(listEvents(receiver)).toEqual(['unsuspended', 'suspended']);
  });

  test('delay lets later deliveries arrive first', async () => {
    const { sandbox, receiver, deliveries, installationId } = await openSceneWithSettings({ delayMs: 200 });
    sandbox.registry.installations.suspend(installationId);
    await callSandbox(sandbox, 'PATCH /_sandbox/webhooks', { body: { delayMs: 0 } });
    sandbox.registry.installations.unsuspend(installationId);
    await deliveries.waitUntilSettled();
    expect(listEvents(receiver)).toEqual(['unsuspended', 'suspended']);
  });

  test('hold keeps each delivery until it is released, in any order, or dropped', async () => {
    const { sandbox, receiver, deliveries, suspendAndResume } = await openSceneWithSettings({ hold: true });
    suspendAndResume();
    suspendAndResume();
    await deliveries.waitUntilSettled();
    expect(receiver.posts).toEqual([]);
    const [four = 0, three = 0, two = 0, one = 0] = deliveries.list(4).map(({ id }) => id);
    const ids = [three, one, four];
    expect((await callSandbox(sandbox, 'POST /_sandbox/deliveries/release', { body: { ids } })).status).toBe(
      200,
    );
    await callSandbox(sandbox, `POST /_sandbox/deliveries/${two}/drop`);
    await deliveries.waitUntilSettled();
    expect(listEvents(receiver)).toEqual(['suspended', 'suspended', 'unsuspended']);
    const again = { body: { ids: [one] } };
    expect((await callSandbox(sandbox, 'POST /_sandbox/deliveries/release', again)).status).toBe(409);
  });
});

test('a delivery that was pending at a stop is sent after the restart', async () => {
  const folder = createTemporarySandboxFolder();
  const receiver = await receiveWebhooks();
  const { sandbox: first, stop } = await startTestSandbox({ folder });
  const app = registerApp(first, { webhookUrl: receiver.url });
  first.registry.deliveries.changeSettings({ delayMs: 60_000 });
  first.registry.installations.install(app.id, createOrganization(first).id);
  await stop();
  const second = await startTemporarySandbox({ folder, wallClock: () => Date.now() + 120_000 });
  await second.registry.deliveries.waitUntilSettled();
  expect(listEvents(receiver)).toEqual(['installed']);
});
