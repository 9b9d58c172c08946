import { describe, expect, test } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/start.js';
import {
  createCaller,
  createControlCaller,
  findUnbalancedCredits,
  installApp,
  issueCredit,
  startTemporarySandbox,
} from '../support/sandbox.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const retirementData = { reason: 'Other', beneficiaryName: 'Ada' };

/** Starts a sandbox whose clock stands still, with a credit of 10 tonnes in a warehouse. */
async function openScene(options: Partial<SandboxOptions> = {}) {
  const sandbox = await startTemporarySandbox(options);
  const { clock } = sandbox.registry.store;
  clock.freeze();
  const installed = installApp(sandbox);
  const { organization, token } = installed;
  const creditId = issueCredit(sandbox, organization.id, { amount: 10 });
  const call = createCaller(sandbox, token);
  const warehouse = `/organizations/${organization.id}/warehouse/inventory`;
  const queue = `${warehouse}/reservations`;
  const reserve = async (amount = 4) => (await call(`POST ${queue}`, { creditId, amount })).body;
  const read = async (id: string) => (await call(`GET ${queue}/${id}`)).body;
  const readAvailable = async () => (await call(`GET ${warehouse}`)).body.credits[0]?.amount;
  return {
    ...installed,
    sandbox,
    clock,
    control: createControlCaller(sandbox),
    creditId,
    call,
    queue,
    reserve,
    read,
    readAvailable,
  };
}

describe('a reservation', () => {
  test('holds its credits for 10 minutes, and not a millisecond less', async () => {
    const { clock, call, queue, reserve, read, readAvailable } = await openScene();
    const { id, createdAt, reservedToDate } = await reserve();
    expect(Date.parse(reservedToDate) - Date.parse(createdAt)).toBe(10 * MINUTE_MS);
    clock.shiftTime(10 * MINUTE_MS - 1);
    expect([(await read(id)).state, await readAvailable()]).toEqual(['outstanding', 6]);
    clock.shiftTime(1);
    expect(await read(id)).toMatchObject({ state: 'expired', isComplete: false });
    expect(await readAvailable()).toBe(10);
    const refused = { status: 409, body: { message: 'The reservation is expired' } };
    expect(await call(`POST ${queue}/${id}/retire`, { retirementData })).toMatchObject(refused);
    expect(await call(`DELETE ${queue}/${id}`)).toMatchObject(refused);
    expect(await readAvailable()).toBe(10);
  });

  test('can be finished until the last millisecond', async () => {
    const { clock, call, queue, reserve } = await openScene();
    const { id } = await reserve();
    clock.shiftTime(10 * MINUTE_MS - 1);
    expect((await call(`POST ${queue}/${id}/retire`, { retirementData })).status).toBe(200);
  });

  test('of a whole credit leaves none of it in the warehouse', async () => {
    const { reserve, readAvailable } = await openScene();
    await reserve(10);
    expect(await readAvailable()).toBeUndefined();
  });

  test('that is cancelled returns its credits once', async () => {
    const { call, queue, reserve, readAvailable } = await openScene();
    const { id } = await reserve();
    const cancelled = { id, state: 'cancelled', isComplete: false };
    expect(await call(`DELETE ${queue}/${id}`)).toMatchObject({ status: 200, body: cancelled });
    expect((await call(`DELETE ${queue}/${id}`)).status).toBe(409);
    expect((await call(`POST ${queue}/${id}/retire`, { retirementData })).status).toBe(409);
    expect(await readAvailable()).toBe(10);
  });

  test('that ended before its time limit states when it ended, and stays in the list', async () => {
    const { clock, call, queue, reserve, read } = await openScene();
    const [expired, cancelled, finished] = [await reserve(1), await reserve(1), await reserve(1)];
    clock.shiftTime(MINUTE_MS);
    await call(`DELETE ${queue}/${cancelled.id}`);
    await call(`POST ${queue}/${finished.id}/retire`, { retirementData });
    for (const { id, reservedToDate } of [cancelled, finished]) {
      const ended = await read(id);
      expect(ended.reservedToDate).toBe(ended.updatedAt);
      expect(ended.reservedToDate < reservedToDate).toBe(true);
    }
    clock.shiftTime(9 * MINUTE_MS);
    const outstanding = await reserve(1);
    const { reservations } = (await call(`GET ${queue}`)).body;
    expect(reservations.map(({ id, state }: Record<string, string>) => [id, state])).toEqual([
      [outstanding.id, 'outstanding'],
      [finished.id, 'finished'],
      [cancelled.id, 'cancelled'],
      [expired.id, 'expired'],
    ]);
  });

  test('stays expired when the clock is moved back', async () => {
    const { sandbox, clock, reserve, read, readAvailable } = await openScene();
    const { id } = await reserve();
    clock.shiftTime(11 * MINUTE_MS);
    clock.shiftTime(-11 * MINUTE_MS);
    expect([(await read(id)).state, await readAvailable()]).toEqual(['expired', 10]);
    const kept = await reserve();
    sandbox.registry.clock.change({ at: new Date(clock.now() + DAY_MS).toISOString(), moveMs: -DAY_MS });
    expect(await read(kept.id)).toMatchObject({ state: 'outstanding' });
  });

  test('that expires because the clock is moved ended at the instant of that move', async () => {
    const { sandbox, control, reserve, read } = await openScene();
    const { id } = await reserve();
    const before = sandbox.registry.store.now();
    await control('POST /clock', { moveMs: 60 * MINUTE_MS });
    expect(await read(id)).toMatchObject({ state: 'expired', reservedToDate: before, updatedAt: before });
  });

  test('is expired by the control API, which returns its credits', async () => {
    const { sandbox, organization, control, reserve, read, readAvailable } = await openScene();
    const { id } = await reserve();
    const ended = await control(`POST /reservations/${id}/expire`);
    const expected = { state: 'expired', organizationId: organization.id };
    expect(ended).toMatchObject({ status: 200, body: expected });
    expect((await read(id)).reservedToDate).toBe(sandbox.registry.store.now());
    expect(await readAvailable()).toBe(10);
    expect((await control(`POST /reservations/${id}/expire`)).status).toBe(409);
    expect((await control('POST /reservations/none/expire')).status).toBe(404);
    expect((await control('GET /reservations?limit=1')).body.reservations).toEqual([ended.body]);
  });

  test('is not found through another organization', async () => {
    const { sandbox, app, organization, queue, reserve } = await openScene();
    const { id } = await reserve();
    const other = installApp(sandbox, { app });
    const path = `${queue.replace(organization.id, other.organization.id)}/${id}`;
    for (const method of ['GET', 'DELETE'])
      expect((await createCaller(sandbox, other.token)(`${method} ${path}`)).status).toBe(404);
  });
});

describe('of concurrent calls', () => {
  test('only as many reservations succeed as there are credits', async () => {
    const { sandbox, organization, creditId, call, queue, readAvailable } = await openScene();
    const callAsOther = createCaller(sandbox, installApp(sandbox, { organization }).token);
    const attempts = Array.from({ length: 20 }, (_, index) =>
      (index % 2 === 0 ? call : callAsOther)(`POST ${queue}`, { creditId, amount: 3 }),
    );
    const statuses = (await Promise.all(attempts)).map(({ status }) => status);
    expect(statuses.filter(status => status === 200)).toHaveLength(3);
    expect(statuses.filter(status => status === 409)).toHaveLength(17);
    expect(await readAvailable()).toBe(1);
  });

  test('exactly one finishes or cancels a reservation', async () => {
    const { sandbox, call, queue, reserve } = await openScene();
    const { id } = await reserve();
    const body = { receiverId: installApp(sandbox).organization.id, retirementData };
    const ends = ['DELETE', 'POST transfer', 'POST retire', 'POST transfer_retire'];
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => {
        const [method, action] = (ends[index % ends.length] ?? '').split(' ');
        return action === undefined
          ? call(`DELETE ${queue}/${id}`)
          : call(`${method} ${queue}/${id}/${action}`, body);
      }),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter(status => status === 200)).toHaveLength(1);
    expect(statuses.filter(status => status === 409)).toHaveLength(19);
    expect(findUnbalancedCredits(sandbox)).toEqual([]);
  });
});

describe('with the profile as-documented', () => {
  test('no answer shows the state of a reservation', async () => {
    const { call, queue, reserve, read } = await openScene({ profile: 'as-documented' });
    const created = await reserve();
    const { reservations } = (await call(`GET ${queue}`)).body;
    const shown = [
      created,
      await read(created.id),
      reservations[0],
      (await call(`DELETE ${queue}/${created.id}`)).body,
    ];
    for (const reservation of shown) {
      expect(reservation).toMatchObject({ id: created.id, isComplete: false });
      expect(reservation).not.toHaveProperty('state');
    }
  });

  test('a warehouse credit has the documented fields, and the addresses endpoint returns the organization', async () => {
    const { call, organization } = await openScene({ profile: 'as-documented' });
    const root = `GET /organizations/${organization.id}`;
    const { credits } = (await call(`${root}/warehouse/inventory`)).body;
    const documented = ['id', 'inventoryId', 'organizationId', 'project', 'serialization', 'amount', 'type'];
    expect(Object.keys(credits[0])).toEqual(documented);
    const addresses = await call(`${root}/addresses`);
    expect(addresses).toMatchObject({ status: 200, body: { fullName: organization.fullName } });
    expect(addresses.body).toEqual((await call(root)).body);
  });
});
