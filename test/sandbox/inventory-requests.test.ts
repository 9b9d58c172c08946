import { beforeEach, expect, test } from 'vitest';
import {
  type Answer,
  callSandbox,
  type Installed,
  installApp,
  issueCredit,
  startSandboxForFile,
} from '../support/sandbox.js';

const retirementData = { reason: 'Voluntary purposes', beneficiaryName: 'Ada', comment: 'for 2026' };

let installed: Installed;
let receiver: Installed;
let creditId: string;
let requests: string;

const sandbox = await startSandboxForFile();
beforeEach(() => {
  installed = installApp(sandbox, installed === undefined ? {} : { app: installed.app });
  receiver = installApp(sandbox, { app: installed.app });
  creditId = issueCredit(sandbox, installed.organization.id, { place: 'inventory', amount: 10 });
  requests = `/organizations/${installed.organization.id}/inventory/requests`;
});

async function callWithToken(endpoint: string, body?: unknown): Promise<Answer> {
  return callSandbox(sandbox, endpoint, { token: installed.token, ...(body !== undefined && { body }) });
}

async function readInventoryAmount(owner: Installed): Promise<number> {
  const { body } = await callSandbox(sandbox, `GET /organizations/${owner.organization.id}/inventory`, {
    token: owner.token,
  });
  const found = body.credits.find((credit: { id: string }) => credit.id === creditId);
  return found === undefined ? 0 : found.amount;
}

async function decide(id: string, decision: 'accept' | 'decline'): Promise<Answer> {
  return callSandbox(sandbox, `POST /_sandbox/requests/${id}/${decision}`);
}

test('POST of an inventory request waits for review and moves nothing', async () => {
  const toOrganizationId = receiver.organization.id;
  const { status, body } = await callWithToken(`POST ${requests}/transfer`, {
    creditId,
    amount: 4,
    toOrganizationId,
  });
  expect(status).toBe(200);
  expect(body).toEqual({
    id: expect.any(String),
    action: 'transfer',
    creditId,
    tokenId: expect.any(String),
    tokenAddress: expect.any(String),
    serialization: expect.any(String),
    vintage: '2021',
    type: 'exPost',
    amount: 4,
    state: 'Pending',
    createdAt: expect.any(String),
    updatedAt: body.createdAt,
    fromOrganizationId: installed.organization.id,
    toOrganizationId,
    project: expect.objectContaining({ fullName: expect.any(String) }),
  });
  expect(await readInventoryAmount(installed)).toBe(10);
  expect((await callWithToken(`GET ${requests}/${body.id}`)).body).toEqual(body);
});

test('an accepted transfer moves the credits into the target inventory', async () => {
  const toOrganizationId = receiver.organization.id;
  const { body } = await callWithToken(`POST ${requests}/transfer`, {
    creditId,
    amount: 4,
    toOrganizationId,
  });
  await decide(body.id, 'accept');
  expect(await readInventoryAmount(installed)).toBe(6);
  expect(await readInventoryAmount(receiver)).toBe(4);
  expect((await callWithToken(`GET ${requests}/${body.id}`)).body).toMatchObject({
    state: 'Accepted',
    txId: expect.stringMatching(/^0x[0-9a-f]{64}$/),
  });
});

test('an accepted transfer moves the credits to the owner of the target address', async () => {
  const addresses = await callSandbox(sandbox, `GET /organizations/${receiver.organization.id}/addresses`, {
    token: receiver.token,
  });
  const toAddress = addresses.body.addresses[0].address;
  const { body } = await callWithToken(`POST ${requests}/transfer`, { creditId, amount: 4, toAddress });
  expect(body.toAddress).toBe(toAddress);
  await decide(body.id, 'accept');
  expect(await readInventoryAmount(receiver)).toBe(4);
});

test('an accepted retire retires the credits for the organization', async () => {
  const { body } = await callWithToken(`POST ${requests}/retire`, { creditId, amount: 4, retirementData });
  expect(body).toMatchObject({
    retirementReason: 'Voluntary purposes',
    beneficiaryName: 'Ada',
    retirementComment: 'for 2026',
  });
  await decide(body.id, 'accept');
  expect(await readInventoryAmount(installed)).toBe(6);
  const list = await callWithToken(`GET /organizations/${installed.organization.id}/retirements`);
  expect(list.body.retirements).toMatchObject([{ amount: 4, beneficiary: 'Ada' }]);
});

test('an accepted transfer_retire retires the credits for the target organization', async () => {
  const toOrganizationId = receiver.organization.id;
  const request = { creditId, amount: 4, toOrganizationId, retirementData };
  const { body } = await callWithToken(`POST ${requests}/transfer_retire`, request);
  await decide(body.id, 'accept');
  const path = `GET /organizations/${toOrganizationId}/retirements`;
  const list = await callSandbox(sandbox, path, { token: receiver.token });
  expect(list.body.retirements).toMatchObject([{ amount: 4, organizationId: toOrganizationId }]);
});

test('a declined request moves nothing and cannot be decided again', async () => {
  const { body } = await callWithToken(`POST ${requests}/retire`, { creditId, amount: 4, retirementData });
  expect((await decide(body.id, 'decline')).body).toMatchObject({ state: 'Rejected' });
  expect((await decide(body.id, 'accept')).status).toBe(409);
  expect((await decide(body.id, 'decline')).status).toBe(409);
  expect(await readInventoryAmount(installed)).toBe(10);
});

test('a request for more than the inventory still holds stays pending', async () => {
  const ask10 = { creditId, amount: 10, retirementData };
  const first = await callWithToken(`POST ${requests}/retire`, ask10);
  const second = await callWithToken(`POST ${requests}/retire`, ask10);
  expect((await decide(first.body.id, 'accept')).status).toBe(200);
  expect((await decide(second.body.id, 'accept')).status).toBe(409);
  expect((await callWithToken(`GET ${requests}/${second.body.id}`)).body.state).toBe('Pending');
  expect(await readInventoryAmount(installed)).toBe(0);
});

test('GET inventory requests pages through all, newest first', async () => {
  const ids: string[] = [];
  for (const amount of [1, 2, 3]) {
    const { body } = await callWithToken(`POST ${requests}/retire`, { creditId, amount, retirementData });
    ids.unshift(body.id);
  }
  const seen: string[] = [];
  for (const page of [0, 1]) {
    const { body } = await callWithToken(`GET ${requests}?limit=2&page=${page}`);
    expect(body.pagination).toMatchObject({ total: 3, currentPage: page, pageCount: 2 });
    for (const { id } of body.creditRequests) seen.push(id);
  }
  expect(seen).toEqual(ids);
  const all = await callSandbox(sandbox, 'GET /_sandbox/requests?limit=3');
  expect(all.body.requests.map(({ id }: { id: string }) => id).toSorted()).toEqual(ids.toSorted());
});
