import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type Answer,
  callSandbox,
  createOrganization,
  type Installed,
  installApp,
  issueCredit,
  startSandboxForFile,
} from '../support/sandbox.js';

const TEN_MINUTES_MS = 10 * 60 * 1000;
const retirementData = { reason: 'Voluntary purposes', beneficiaryName: 'Ada', comment: 'for 2026' };

let installed: Installed;
let creditId: string;
let root: string;
let queue: string;

const sandbox = await startSandboxForFile();
beforeEach(() => {
  sandbox.registry.store.clock.freeze();
  installed = installApp(sandbox, installed === undefined ? {} : { app: installed.app });
  creditId = issueCredit(sandbox, installed.organization.id, { amount: 10 });
  root = `/organizations/${installed.organization.id}`;
  queue = `${root}/warehouse/inventory/reservations`;
});
afterEach(() => sandbox.registry.store.clock.resume());

async function callWithToken(endpoint: string, body?: unknown): Promise<Answer> {
  return callSandbox(sandbox, endpoint, { token: installed.token, ...(body !== undefined && { body }) });
}

async function reserve(amount = 4): Promise<string> {
  const { status, body } = await callWithToken(`POST ${queue}`, { creditId, amount });
  expect(status).toBe(200);
  return body.id;
}

/** Reads the amount of the credit in a warehouse or inventory. */
async function readAmountIn(
  place: 'warehouse/inventory' | 'inventory',
  owner: Installed = installed,
): Promise<number> {
  const path = `/organizations/${owner.organization.id}/${place}`;
  const { body } = await callSandbox(sandbox, `GET ${path}`, { token: owner.token });
  const found = body.credits.find((credit: { id: string }) => credit.id === creditId);
  return found === undefined ? 0 : found.amount;
}

describe('POST reserve credits', () => {
  test('creates an outstanding reservation of the calling app and removes its credits from the warehouse', async () => {
    const { body } = await callWithToken(`POST ${queue}`, { creditId, amount: 4 });
    expect(body).toEqual({
      id: expect.any(String),
      tokenId: expect.any(String),
      tokenAddress: expect.any(String),
      creditId,
      serialization: expect.any(String),
      type: 'exPost',
      amount: 4,
      state: 'outstanding',
      isComplete: false,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      reservedToDate: expect.any(String),
      project: { id: expect.any(String), fullName: expect.any(String) },
      reserver: { id: installed.app.id, name: installed.app.name },
    });
    expect(Date.parse(body.reservedToDate) - Date.parse(body.createdAt)).toBe(TEN_MINUTES_MS);
    expect(await readAmountIn('warehouse/inventory')).toBe(6);
    expect((await callWithToken(`GET ${queue}/${body.id}`)).body).toEqual(body);
  });

  test('a credit that is reserved completely is not in the warehouse', async () => {
    await reserve(10);
    const { body } = await callWithToken(`GET ${root}/warehouse/inventory`);
    expect(body.credits).toEqual([]);
  });

  test('two callers cannot reserve the same amount', async () => {
    const attempts = Array.from({ length: 20 }, () =>
      callWithToken(`POST ${queue}`, { creditId, amount: 3 }),
    );
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.filter(status => status === 200)).toHaveLength(3);
    expect(statuses.filter(status => status === 409)).toHaveLength(17);
    expect(await readAmountIn('warehouse/inventory')).toBe(1);
  });
});

describe('after 10 minutes', () => {
  test('the reservation expires and its credits return to the warehouse, not a millisecond earlier', async () => {
    const id = await reserve();
    const { clock } = sandbox.registry.store;
    clock.shiftTime(TEN_MINUTES_MS - 1);
    expect((await callWithToken(`GET ${queue}/${id}`)).body.state).toBe('outstanding');
    expect(await readAmountIn('warehouse/inventory')).toBe(6);
    clock.shiftTime(1);
    expect((await callWithToken(`GET ${queue}/${id}`)).body).toMatchObject({
      state: 'expired',
      isComplete: false,
    });
    expect(await readAmountIn('warehouse/inventory')).toBe(10);
  });

  test('the reservation can no longer be finished or cancelled', async () => {
    const id = await reserve();
    sandbox.registry.store.clock.shiftTime(TEN_MINUTES_MS);
    const finished = await callWithToken(`POST ${queue}/${id}/retire`, { retirementData });
    expect(finished).toMatchObject({ status: 409, body: { message: 'The reservation is expired' } });
    expect((await callWithToken(`DELETE ${queue}/${id}`)).status).toBe(409);
    expect(await readAmountIn('warehouse/inventory')).toBe(10);
  });

  test('the reservation can be finished until the last millisecond', async () => {
    const id = await reserve();
    sandbox.registry.store.clock.shiftTime(TEN_MINUTES_MS - 1);
    expect((await callWithToken(`POST ${queue}/${id}/retire`, { retirementData })).status).toBe(200);
  });
});

test('DELETE of an outstanding reservation cancels it and returns its credits', async () => {
  const id = await reserve();
  const { status, body } = await callWithToken(`DELETE ${queue}/${id}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({ id, state: 'cancelled', isComplete: false });
  expect(await readAmountIn('warehouse/inventory')).toBe(10);
  expect((await callWithToken(`DELETE ${queue}/${id}`)).status).toBe(409);
  expect((await callWithToken(`POST ${queue}/${id}/retire`, { retirementData })).status).toBe(409);
  expect(await readAmountIn('warehouse/inventory')).toBe(10);
});

describe('POST finish reservation with an action', () => {
  let receiver: Installed;

  beforeEach(() => {
    receiver = installApp(sandbox, { app: installed.app });
  });

  test('transfer moves the credits into the inventory of a receiver named by id', async () => {
    const id = await reserve();
    const body = { receiverId: receiver.organization.id, transferComment: 'thank you' };
    const finished = await callWithToken(`POST ${queue}/${id}/transfer`, body);
    expect(finished.body).toMatchObject({ id, state: 'finished', isComplete: true });
    expect(await readAmountIn('inventory', receiver)).toBe(4);
    expect(await readAmountIn('warehouse/inventory')).toBe(6);
    const { transactions } = (await callSandbox(sandbox, 'GET /_sandbox/transactions?limit=1')).body;
    expect(transactions).toMatchObject([
      { type: 'transfer', status: 'processed', comment: 'thank you', amount: 4 },
    ]);
  });

  test('transfer moves the credits to a receiver named by address, in any case of letters', async () => {
    const { body } = await callSandbox(sandbox, `GET /organizations/${receiver.organization.id}/addresses`, {
      token: receiver.token,
    });
    const receiverAddress = `0x${body.addresses[0].address.slice(2).toUpperCase()}`;
    await callWithToken(`POST ${queue}/${await reserve()}/transfer`, { receiverAddress });
    expect(await readAmountIn('inventory', receiver)).toBe(4);
  });

  test('retire retires the credits for the organization itself', async () => {
    await callWithToken(`POST ${queue}/${await reserve()}/retire`, { retirementData });
    const { body } = await callWithToken(`GET ${root}/retirements`);
    expect(body.retirements).toMatchObject([
      { amount: 4, reason: 'Voluntary purposes', beneficiary: 'Ada', comment: 'for 2026' },
    ]);
    expect(await readAmountIn('inventory')).toBe(0);
  });

  test('transfer_retire retires the credits for the receiver', async () => {
    const body = { receiverId: receiver.organization.id, retirementData };
    await callWithToken(`POST ${queue}/${await reserve()}/transfer_retire`, body);
    expect((await callWithToken(`GET ${root}/retirements`)).body.retirements).toEqual([]);
    const path = `/organizations/${receiver.organization.id}/retirements`;
    const { body: list } = await callSandbox(sandbox, `GET ${path}`, { token: receiver.token });
    expect(list.retirements).toMatchObject([{ amount: 4, organizationId: receiver.organization.id }]);
    expect(await readAmountIn('inventory', receiver)).toBe(0);
  });

  test('a finished reservation can be neither finished again nor cancelled', async () => {
    const id = await reserve();
    await callWithToken(`POST ${queue}/${id}/transfer`, { receiverId: receiver.organization.id });
    const again = await callWithToken(`POST ${queue}/${id}/transfer`, {
      receiverId: receiver.organization.id,
    });
    expect(again).toMatchObject({ status: 409, body: { message: 'The reservation is finished' } });
    expect((await callWithToken(`DELETE ${queue}/${id}`)).status).toBe(409);
    expect(await readAmountIn('inventory', receiver)).toBe(4);
  });
});

test('GET reservations pages through all, newest first, also those that have ended', async () => {
  const { clock } = sandbox.registry.store;
  const [expired, cancelled, finished] = [await reserve(1), await reserve(1), await reserve(1)];
  await callWithToken(`DELETE ${queue}/${cancelled}`);
  await callWithToken(`POST ${queue}/${finished}/retire`, { retirementData });
  clock.shiftTime(TEN_MINUTES_MS);
  const outstanding = await reserve(1);
  const seen: [string, string][] = [];
  for (const page of [0, 1]) {
    const { body } = await callWithToken(`GET ${queue}?limit=2&page=${page}`);
    expect(body.pagination).toMatchObject({ total: 4, currentPage: page, pageCount: 2 });
    for (const { id, state } of body.reservations) seen.push([id, state]);
  }
  expect(seen).toEqual([
    [outstanding, 'outstanding'],
    [finished, 'finished'],
    [cancelled, 'cancelled'],
    [expired, 'expired'],
  ]);
});

test('a reservation is not found through another organization', async () => {
  const id = await reserve();
  const other = installApp(sandbox, { app: installed.app, organization: createOrganization(sandbox) });
  const path = `/organizations/${other.organization.id}/warehouse/inventory/reservations/${id}`;
  expect((await callSandbox(sandbox, `GET ${path}`, { token: other.token })).status).toBe(404);
  expect((await callSandbox(sandbox, `DELETE ${path}`, { token: other.token })).status).toBe(404);
});
