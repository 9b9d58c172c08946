import { describe, expect, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/start.js';
import {
  callSandbox,
  type Installed,
  installApp,
  issueCredit,
  registerApp,
  startTemporarySandbox,
} from '../support/sandbox.js';
import { type Receiver, receiveWebhooks } from '../support/webhook-receiver.js';

const retirementData = { reason: 'Other', beneficiaryName: 'Ada' };

interface Scene extends Installed {
  readonly sandbox: Sandbox;
  readonly receiver: Receiver;
  readonly creditId: string;
  readonly place: 'warehouse' | 'inventory';
}

/** Puts 100 tonnes into the warehouse or the inventory, of which a transaction will retire 10. */
async function openScene(place: 'warehouse' | 'inventory'): Promise<Scene> {
  const sandbox = await startTemporarySandbox();
  const receiver = await receiveWebhooks();
  const app = registerApp(sandbox, { webhookUrl: receiver.url });
  const installed = installApp(sandbox, { app });
  const creditId = issueCredit(sandbox, installed.organization.id, { place });
  return { sandbox, receiver, creditId, place, ...installed };
}

/** Retires 10 tonnes by a finished reservation or an accepted request, and returns that reservation or request. */
async function retireTen(scene: Scene) {
  const { sandbox, token, organization, creditId, place } = scene;
  const root = `/organizations/${organization.id}/${place}/inventory`.replace(
    'inventory/inventory',
    'inventory',
  );
  const body = { creditId, amount: 10, retirementData };
  if (place === 'warehouse') {
    const reservation = await callSandbox(sandbox, `POST ${root}/reservations`, { token, body });
    return (
      await callSandbox(sandbox, `POST ${root}/reservations/${reservation.body.id}/retire`, { token, body })
    ).body;
  }
  const request = await callSandbox(sandbox, `POST ${root}/requests/retire`, { token, body });
  return (await callSandbox(sandbox, `POST /_sandbox/requests/${request.body.id}/accept`)).body;
}

async function readAmounts({ sandbox, organization, token, place }: Scene) {
  const list = place === 'warehouse' ? 'warehouse/inventory' : 'inventory';
  const { credits } = (await callSandbox(sandbox, `GET /organizations/${organization.id}/${list}`, { token }))
    .body;
  const { retirements } = (
    await callSandbox(sandbox, `GET /organizations/${organization.id}/retirements`, { token })
  ).body;
  return { left: credits[0].amount, retired: retirements.map(({ amount }: { amount: number }) => amount) };
}

async function listNotifiedStatuses({ sandbox, receiver }: Scene): Promise<unknown[]> {
  await sandbox.registry.deliveries.waitUntilSettled();
  return receiver.posts.flatMap(({ body }) => JSON.parse(body).transaction?.status ?? []);
}

async function readNewest({ sandbox }: Scene) {
  return (await callSandbox(sandbox, 'GET /_sandbox/transactions?limit=1')).body.transactions[0];
}

const PLACES = ['warehouse', 'inventory'] as const;
const DONE = { warehouse: { state: 'finished', isComplete: true }, inventory: { state: 'Accepted' } };
const FAILED = { warehouse: { state: 'cancelled', isComplete: false }, inventory: { state: 'Rejected' } };

describe.each(PLACES)('a transaction out of the %s', place => {
  test('is processed at once without a fault', async () => {
    const scene = await openScene(place);
    expect(await retireTen(scene)).toMatchObject(DONE[place]);
    expect(await readAmounts(scene)).toEqual({ left: 90, retired: [10] });
    expect(await listNotifiedStatuses(scene)).toEqual(['processed']);
  });

  test('fails under the fault "transactionFails", which returns its credits and notifies its apps', async () => {
    const scene = await openScene(place);
    scene.sandbox.registry.faults.add({ kind: 'transactionFails', count: 1 });
    const ended = await retireTen(scene);
    expect(ended).toMatchObject(FAILED[place]);
    expect(ended).not.toHaveProperty('txId');
    expect(await readAmounts(scene)).toEqual({ left: 100, retired: [] });
    expect(await listNotifiedStatuses(scene)).toEqual(['failed']);
    expect(await retireTen(scene)).toMatchObject(DONE[place]);
    expect(await readAmounts(scene)).toEqual({ left: 90, retired: [10] });
  });

  test.each([
    ['process', 'processed', { left: 90, retired: [10] }, DONE[place]],
    ['fail', 'failed', { left: 100, retired: [] }, FAILED[place]],
  ])(
    'waits under the fault "transactionQueues" until the control API lets it %s',
    async (verb, status, ends, shows) => {
      const scene = await openScene(place);
      const { sandbox } = scene;
      sandbox.registry.faults.add({
        kind: 'transactionQueues',
        path: `/organizations/*/${place}/**`,
        count: 1,
      });
      const ended = await retireTen(scene);
      expect(ended).toMatchObject(DONE[place]);
      expect(ended).not.toHaveProperty('txId');
      expect(await readAmounts(scene)).toEqual({ left: 90, retired: [] });
      const { id, status: waiting } = await readNewest(scene);
      expect(waiting).toBe('pending_queue');
      const settled = await callSandbox(sandbox, `POST /_sandbox/transactions/${id}/${verb}`);
      expect(settled).toMatchObject({ status: 200, body: { id, status } });
      expect(await readAmounts(scene)).toEqual(ends);
      expect(await listNotifiedStatuses(scene)).toEqual(['pending_queue', status]);
      const list = place === 'warehouse' ? sandbox.registry.reservations : sandbox.registry.requests;
      expect(list.listNewest(1)).toMatchObject([shows]);
      expect((await callSandbox(sandbox, `POST /_sandbox/transactions/${id}/${verb}`)).status).toBe(409);
      expect((await callSandbox(sandbox, `POST /_sandbox/transactions/none/${verb}`)).status).toBe(404);
    },
  );
});

test('a transaction fault applies to no call, and a call fault to no transaction', async () => {
  const scene = await openScene('inventory');
  const { faults } = scene.sandbox.registry;
  faults.add({ kind: 'transactionFails', path: '/projects' });
  faults.add({ kind: 'status', path: '/organizations/*/inventory/requests/none' });
  expect((await callSandbox(scene.sandbox, 'GET /projects', { token: scene.token })).status).toBe(200);
  expect(await retireTen(scene)).toMatchObject(DONE.inventory);
  expect(faults.list().map(({ hits }) => hits)).toEqual([0, 0]);
});
