import { beforeAll, describe, expect, test } from 'vitest';
import {
  callSandbox,
  createOrganization,
  installApp,
  issueCredit,
  startSandboxForFile,
} from '../support/sandbox.js';

const EXTERNAL_ADDRESS = `0x${'Ab'.repeat(20)}`;
const retirementData = { reason: 'Other', beneficiaryName: 'Ada' };

const sandbox = await startSandboxForFile({ profile: 'as-documented' });
const installed = installApp(sandbox);
const root = `/organizations/${installed.organization.id}`;
const creditId = issueCredit(sandbox, installed.organization.id);

async function callWithToken(endpoint: string, body?: unknown) {
  const { token } = installed;
  return await callSandbox(sandbox, endpoint, body === undefined ? { token } : { token, body });
}

async function reserve(credit: string, amount: number): Promise<string> {
  const { status, body } = await callWithToken(`POST ${root}/warehouse/inventory/reservations`, {
    creditId: credit,
    amount,
  });
  expect(status).toBe(200);
  return body.id;
}

async function finish(credit: string, action: string, body: object) {
  const id = await reserve(credit, 10);
  return await callWithToken(`POST ${root}/warehouse/inventory/reservations/${id}/${action}`, body);
}

async function readWarehouseAmount(credit: string): Promise<number | undefined> {
  const { credits } = (await callWithToken(`GET ${root}/warehouse/inventory`)).body;
  return credits.find(({ id }: { id: string }) => id === credit)?.amount;
}

test('a credit in a warehouse has exactly the documented fields', async () => {
  const { credits } = (await callWithToken(`GET ${root}/warehouse/inventory`)).body;
  const documented = ['id', 'inventoryId', 'organizationId', 'project', 'serialization', 'amount', 'type'];
  expect(Object.keys(credits[0])).toEqual(documented);
});

test('no answer shows the state of a reservation', async () => {
  const queue = `${root}/warehouse/inventory/reservations`;
  const created = await callWithToken(`POST ${queue}`, { creditId, amount: 1 });
  const read = await callWithToken(`GET ${queue}/${created.body.id}`);
  const { reservations } = (await callWithToken(`GET ${queue}`)).body;
  const cancelled = await callWithToken(`DELETE ${queue}/${created.body.id}`);
  for (const shown of [created.body, read.body, reservations[0], cancelled.body]) {
    expect(shown).toMatchObject({ id: created.body.id, isComplete: false });
    expect(shown).not.toHaveProperty('state');
  }
});

test('the addresses endpoint returns the organization', async () => {
  const addresses = await callWithToken(`GET ${root}/addresses`);
  expect(addresses).toMatchObject({ status: 200, body: { fullName: installed.organization.fullName } });
  expect(addresses.body).toEqual((await callWithToken(`GET ${root}`)).body);
});

test('a page has at most 50 rows, whatever is requested', async () => {
  const owner = createOrganization(sandbox);
  for (let count = 0; count < 51; count += 1) issueCredit(sandbox, owner.id, { amount: 1 });
  const { projects, pagination } = (await callWithToken('GET /projects?limit=1000&page=0')).body;
  expect(projects).toHaveLength(50);
  expect(pagination).toMatchObject({ pageCount: 2, nextPage: 1 });
  expect((await callWithToken('GET /projects?limit=1000&page=1')).body.projects).toHaveLength(
    pagination.total - 50,
  );
});

describe('an exAnte credit', () => {
  let exAnte: string;

  beforeAll(() => {
    const { id: projectId } = sandbox.registry.projects.create({ fullName: 'Saplings' });
    const issue = {
      organizationId: installed.organization.id,
      projectId,
      type: 'exAnte',
      place: 'warehouse',
    };
    exAnte = sandbox.registry.credits.issue({ ...issue, amount: 100 }).creditId;
    sandbox.registry.credits.withdraw(installed.organization.id, { creditId: exAnte, amount: 50 });
  });

  test('cannot be retired', async () => {
    const { id: receiverId } = createOrganization(sandbox);
    const refused = { status: 409, body: { message: 'An exAnte credit cannot be retired' } };
    expect(await finish(exAnte, 'retire', { retirementData })).toMatchObject(refused);
    expect(await finish(exAnte, 'transfer_retire', { receiverId, retirementData })).toMatchObject(refused);
    const request = { creditId: exAnte, amount: 1, retirementData };
    expect(await callWithToken(`POST ${root}/inventory/requests/retire`, request)).toMatchObject(refused);
    const path = `POST /_sandbox/organizations/${installed.organization.id}/retire-off-platform`;
    expect(await callSandbox(sandbox, path, { body: { creditId: exAnte, amount: 1 } })).toMatchObject(
      refused,
    );
  });

  test('can be transferred', async () => {
    const { id: receiverId } = createOrganization(sandbox);
    expect((await finish(exAnte, 'transfer', { receiverId })).status).toBe(200);
  });
});

describe('an address that no organization has', () => {
  test('receives credits, which then have left the registry', async () => {
    const credit = issueCredit(sandbox, installed.organization.id, { amount: 100 });
    expect((await finish(credit, 'transfer', { receiverAddress: EXTERNAL_ADDRESS })).status).toBe(200);
    expect(
      (await finish(credit, 'transfer', { receiverAddress: EXTERNAL_ADDRESS.toLowerCase() })).status,
    ).toBe(200);
    expect(await readWarehouseAmount(credit)).toBe(80);
    const left = sandbox.registry.store.tables.externalHoldings.list();
    expect(left).toEqual([
      { address: EXTERNAL_ADDRESS.toLowerCase(), creditId: credit, amountMicro: 20_000_000 },
    ]);
    const [newest] = sandbox.registry.transactions.list(1);
    expect(newest).toMatchObject({ creditId: credit, receiverId: null, status: 'processed' });
  });

  test('receives credits by an accepted request', async () => {
    const { id } = installed.organization;
    const credit = issueCredit(sandbox, id, { place: 'inventory', amount: 100 });
    const body = { creditId: credit, amount: 100, toAddress: EXTERNAL_ADDRESS };
    const request = await callWithToken(`POST ${root}/inventory/requests/transfer`, body);
    const accepted = await callSandbox(sandbox, `POST /_sandbox/requests/${request.body.id}/accept`);
    expect(accepted).toMatchObject({ status: 200, body: { state: 'Accepted', toAddress: EXTERNAL_ADDRESS } });
    const left = sandbox.registry.store.tables.externalHoldings.list().find(row => row.creditId === credit);
    expect(left?.amountMicro).toBe(100_000_000);
  });

  test('does not become the owner of a transfer_retire’s retirement', async () => {
    const credit = issueCredit(sandbox, installed.organization.id);
    const { status } = await finish(credit, 'transfer_retire', {
      receiverAddress: EXTERNAL_ADDRESS,
      retirementData,
    });
    expect(status).toBe(200);
    const [newest] = (await callWithToken(`GET ${root}/retirements?limit=1&page=0`)).body.retirements;
    expect(newest).toMatchObject({ amount: 10, organizationId: installed.organization.id });
  });

  test('is refused together with the id of an organization', async () => {
    const { id: receiverId } = createOrganization(sandbox);
    const body = { receiverId, receiverAddress: EXTERNAL_ADDRESS };
    expect((await finish(creditId, 'transfer', body)).status).toBe(404);
  });
});
