import { describe, expect, test } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/start.js';
import {
  type Answer,
  createCaller,
  createControlCaller,
  createOrganization,
  installApp,
  issueCredit,
  registerApp,
  startTemporarySandbox,
} from '../support/sandbox.js';
import { receiveWebhooks } from '../support/webhook-receiver.js';

const EXTERNAL_ADDRESS = `0x${'Ab'.repeat(20)}`;
const RETIREMENT_DATA = { reason: 'Other', beneficiaryName: 'Ada', comment: 'for 2026' };
const PLACES = ['warehouse', 'inventory'] as const;
const DONE = { warehouse: { state: 'finished', isComplete: true }, inventory: { state: 'Accepted' } };
const FAILED = { warehouse: { state: 'cancelled', isComplete: false }, inventory: { state: 'Rejected' } };

/**
 * Puts 100 tonnes of a credit into a warehouse or an inventory. `execute` moves or retires 10 of them: by a reservation that
 * is finished, or by a request that is accepted.
 */
async function openScene(
  place: (typeof PLACES)[number],
  options: Partial<SandboxOptions> = {},
  type: 'exPost' | 'exAnte' = 'exPost',
) {
  const sandbox = await startTemporarySandbox(options);
  const webhooks = await receiveWebhooks();
  const installed = installApp(sandbox, { app: registerApp(sandbox, { webhookUrl: webhooks.url }) });
  const receiver = installApp(sandbox);
  const creditId = issueCredit(sandbox, installed.organization.id, { place, type });
  const control = createControlCaller(sandbox);
  const call = createCaller(sandbox, installed.token);
  const callAsReceiver = createCaller(sandbox, receiver.token);
  const root = `/organizations/${installed.organization.id}`;
  const list = place === 'warehouse' ? `${root}/warehouse/inventory` : `${root}/inventory`;

  async function execute(action: string, to: { id?: string; address?: string } = {}): Promise<Answer> {
    const order = { creditId, amount: 10, retirementData: RETIREMENT_DATA };
    if (place === 'warehouse') {
      const { id } = (await call(`POST ${list}/reservations`, order)).body;
      const body = { ...order, receiverId: to.id, receiverAddress: to.address, transferComment: 'thank you' };
      return await call(`POST ${list}/reservations/${id}/${action}`, body);
    }
    const body = { ...order, toOrganizationId: to.id, toAddress: to.address };
    const requested = await call(`POST ${list}/requests/${action}`, body);
    return requested.status === 200 ? await control(`POST /requests/${requested.body.id}/accept`) : requested;
  }

  /** Reads the tonnes that are left, that the receiver has, and that each of the two has retired. */
  async function readAmounts() {
    const find = ({ body }: Answer): number =>
      body.credits.find(({ id }: { id: string }) => id === creditId)?.amount ?? 0;
    const listRetired = ({ body }: Answer) =>
      body.retirements.map(({ amount }: { amount: number }) => amount);
    const other = `/organizations/${receiver.organization.id}`;
    return {
      left: find(await call(`GET ${list}`)),
      received: find(await callAsReceiver(`GET ${other}/inventory`)),
      retired: listRetired(await call(`GET ${root}/retirements`)),
      retiredByReceiver: listRetired(await callAsReceiver(`GET ${other}/retirements`)),
    };
  }

  async function listNotifiedStatuses(): Promise<unknown[]> {
    await sandbox.registry.deliveries.waitUntilSettled();
    return webhooks.posts.flatMap(({ body }) => JSON.parse(body).transaction?.status ?? []);
  }
  return {
    ...installed,
    sandbox,
    receiver,
    creditId,
    control,
    call,
    root,
    list,
    execute,
    readAmounts,
    listNotifiedStatuses,
  };
}

const UNTOUCHED = { left: 100, received: 0, retired: [], retiredByReceiver: [] };
const RETIRED = { ...UNTOUCHED, left: 90, retired: [10] };

describe.each(PLACES)('a transaction out of the %s', place => {
  test.each([
    ['transfer', 'id', { received: 10 }],
    ['transfer', 'address', { received: 10 }],
    ['retire', 'nobody', { retired: [10] }],
    ['transfer_retire', 'id', { retiredByReceiver: [10] }],
  ])(
    'with the action %s, whose receiver is named by %s, is processed at once',
    async (action, name, change) => {
      const { sandbox, receiver, execute, readAmounts, listNotifiedStatuses } = await openScene(place);
      const { id } = receiver.organization;
      const { address = '' } =
        sandbox.registry.store.tables.addresses.list().find(row => row.organizationId === id) ?? {};
      const upperCase = `0x${address.slice(2).toUpperCase()}`;
      const { status, body } = await execute(
        action,
        name === 'id' ? { id } : name === 'address' ? { address: upperCase } : {},
      );
      expect(status).toBe(200);
      const txId = place === 'inventory' && { txId: expect.stringMatching(/^0x[0-9a-f]{64}$/) };
      expect(body).toMatchObject({ ...DONE[place], ...txId });
      expect(await readAmounts()).toEqual({ ...UNTOUCHED, left: 90, ...change });
      expect(await listNotifiedStatuses()).toEqual(['processed']);
      const [transaction] = sandbox.registry.transactions.list(1);
      const comment = place === 'warehouse' ? 'thank you' : null;
      expect(transaction).toMatchObject({ type: action, status: 'processed', amount: 10, comment });
    },
  );

  test('retires with the reason, beneficiary and comment that were given', async () => {
    const { call, root, execute } = await openScene(place);
    await execute('retire');
    const given = { amount: 10, reason: 'Other', beneficiary: 'Ada', comment: 'for 2026' };
    expect((await call(`GET ${root}/retirements`)).body.retirements).toMatchObject([given]);
  });

  test('cannot be ended twice', async () => {
    const { call, control, list, execute, readAmounts } = await openScene(place);
    const { id } = (await execute('retire')).body;
    const again =
      place === 'warehouse'
        ? [
            await call(`POST ${list}/reservations/${id}/retire`, { retirementData: RETIREMENT_DATA }),
            await call(`DELETE ${list}/reservations/${id}`),
          ]
        : [await control(`POST /requests/${id}/accept`), await control(`POST /requests/${id}/decline`)];
    const message = place === 'warehouse' ? 'The reservation is finished' : 'The request is Accepted';
    for (const answer of again) expect(answer).toMatchObject({ status: 409, body: { message } });
    expect(await readAmounts()).toEqual(RETIRED);
  });

  test('fails under the fault "transactionFails", which returns its credits and notifies its apps', async () => {
    const { sandbox, execute, readAmounts, listNotifiedStatuses } = await openScene(place);
    sandbox.registry.faults.add({ kind: 'transactionFails', count: 1 });
    const ended = (await execute('retire')).body;
    expect(ended).toMatchObject(FAILED[place]);
    expect(ended).not.toHaveProperty('txId');
    expect(await readAmounts()).toEqual(UNTOUCHED);
    expect(await listNotifiedStatuses()).toEqual(['failed']);
    expect((await execute('retire')).body).toMatchObject(DONE[place]);
    expect(await readAmounts()).toEqual(RETIRED);
  });

  test.each([
    ['process', 'processed', RETIRED, DONE[place]],
    ['fail', 'failed', UNTOUCHED, FAILED[place]],
  ])(
    'waits under the fault "transactionQueues" until the control API lets it %s',
    async (verb, status, amounts, ended) => {
      const { sandbox, control, execute, readAmounts, listNotifiedStatuses } = await openScene(place);
      const { faults, reservations, requests } = sandbox.registry;
      faults.add({ kind: 'transactionQueues', path: `/organizations/*/${place}/**`, count: 1 });
      const accepted = (await execute('retire')).body;
      expect(accepted).toMatchObject(DONE[place]);
      expect(accepted).not.toHaveProperty('txId');
      expect(await readAmounts()).toEqual({ ...UNTOUCHED, left: 90 });
      const [{ id, status: waiting }] = (await control('GET /transactions?limit=1')).body.transactions;
      expect(waiting).toBe('pending_queue');
      const settled = await control(`POST /transactions/${id}/${verb}`);
      expect(settled).toMatchObject({ status: 200, body: { id, status } });
      expect(await readAmounts()).toEqual(amounts);
      expect(await listNotifiedStatuses()).toEqual(['pending_queue', status]);
      expect((place === 'warehouse' ? reservations : requests).listNewest(1)).toMatchObject([ended]);
      expect((await control(`POST /transactions/${id}/${verb}`)).status).toBe(409);
      expect((await control(`POST /transactions/none/${verb}`)).status).toBe(404);
    },
  );

  describe('with the profile as-documented', () => {
    const PROFILE = { profile: 'as-documented' } as const;

    test('can transfer an exAnte credit, but not retire it', async () => {
      const { sandbox, organization, receiver, creditId, control, execute } = await openScene(
        place,
        PROFILE,
        'exAnte',
      );
      const refused = { status: 409, body: { message: 'An exAnte credit cannot be retired' } };
      const { id } = receiver.organization;
      expect(await execute('retire')).toMatchObject(refused);
      expect(await execute('transfer_retire', { id })).toMatchObject(refused);
      sandbox.registry.credits.issue({ organizationId: organization.id, creditId, amount: 1 });
      const offPlatform = `POST /organizations/${organization.id}/retire-off-platform`;
      expect(await control(offPlatform, { creditId, amount: 1 })).toMatchObject(refused);
      expect((await execute('transfer', { id })).status).toBe(200);
    });

    test('lets credits leave the registry to an address that no organization has', async () => {
      const { sandbox, creditId, execute, readAmounts } = await openScene(place, PROFILE);
      for (const address of [EXTERNAL_ADDRESS, EXTERNAL_ADDRESS.toLowerCase()])
        expect((await execute('transfer', { address })).status).toBe(200);
      expect((await readAmounts()).left).toBe(80);
      const address = EXTERNAL_ADDRESS.toLowerCase();
      const left = sandbox.registry.store.tables.externalHoldings.list();
      expect(left).toEqual([{ address, creditId, amountMicro: 20_000_000 }]);
      const [newest] = sandbox.registry.transactions.list(1);
      expect(newest).toMatchObject({ creditId, receiverId: null, status: 'processed' });
      const both = { address: EXTERNAL_ADDRESS, id: createOrganization(sandbox).id };
      expect((await execute('transfer', both)).status).toBe(404);
    });

    test('retires for the organization itself if the receiver is such an address', async () => {
      const { execute, readAmounts } = await openScene(place, PROFILE);
      expect((await execute('transfer_retire', { address: EXTERNAL_ADDRESS })).status).toBe(200);
      expect(await readAmounts()).toEqual(RETIRED);
    });
  });
});

test('a transaction fault applies to no call, and a call fault to no transaction', async () => {
  const { sandbox, call, execute } = await openScene('inventory');
  const { faults } = sandbox.registry;
  faults.add({ kind: 'transactionFails', path: '/projects' });
  faults.add({ kind: 'status', path: '/organizations/*/inventory/requests/none' });
  expect((await call('GET /projects')).status).toBe(200);
  expect((await execute('retire')).body).toMatchObject(DONE.inventory);
  expect(faults.list().map(({ hits }) => hits)).toEqual([0, 0]);
});

test('an inventory request waits for review, moves nothing until then, and can be declined', async () => {
  const { call, control, list, creditId, receiver, readAmounts } = await openScene('inventory');
  const order = { creditId, amount: 4, toOrganizationId: receiver.organization.id };
  const { body } = await call(`POST ${list}/requests/transfer`, order);
  expect(body).toMatchObject({ ...order, action: 'transfer', state: 'Pending' });
  expect((await call(`GET ${list}/requests/${body.id}`)).body).toEqual(body);
  expect(await readAmounts()).toEqual(UNTOUCHED);
  expect((await control(`POST /requests/${body.id}/decline`)).body).toMatchObject({ state: 'Rejected' });
  for (const decision of ['accept', 'decline'])
    expect((await control(`POST /requests/${body.id}/${decision}`)).status).toBe(409);
  expect(await readAmounts()).toEqual(UNTOUCHED);
});

test('a request for more than the inventory still holds stays pending', async () => {
  const { call, control, list, creditId } = await openScene('inventory');
  const order = { creditId, amount: 100, retirementData: RETIREMENT_DATA };
  const [first, second] = [
    await call(`POST ${list}/requests/retire`, order),
    await call(`POST ${list}/requests/retire`, order),
  ];
  expect((await control(`POST /requests/${first.body.id}/accept`)).status).toBe(200);
  expect((await control(`POST /requests/${second.body.id}/accept`)).status).toBe(409);
  expect((await call(`GET ${list}/requests/${second.body.id}`)).body.state).toBe('Pending');
});
