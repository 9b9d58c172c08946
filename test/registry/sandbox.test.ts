import { expect, test } from 'vitest';
import { type Client, createClient } from '../../src/client.js';
import type { RetirementData } from '../../src/registry/writes/request-bodies.js';
import type { Sandbox } from '../../src/sandbox/start.js';
import { collect, collectBytes } from '../support/registry-client.js';
import { installApp, issueCredit, startTemporarySandbox } from '../support/sandbox.js';

interface Scene {
  readonly sandbox: Sandbox;
  readonly client: Client;
  readonly installationId: string;
  readonly organizationId: string;
  readonly organization: ReturnType<Client['organization']>;
  readonly warehouseCredit: string;
  readonly inventoryCredit: string;
}

/** Starts a strict sandbox with an app that is installed on an organization with credits in warehouse and inventory. */
async function createScene(sleep?: () => Promise<void>): Promise<Scene> {
  const sandbox = await startTemporarySandbox();
  const { app, organization: home, installationId } = installApp(sandbox);
  const client = createClient({
    baseUrl: sandbox.url,
    appId: app.id,
    privateKey: app.privateKey,
    requestsPerSecond: Infinity,
    now: () => sandbox.registry.store.clock.now(),
    ...(sleep && { sleep }),
  });
  return {
    sandbox,
    client,
    installationId,
    organizationId: home.id,
    organization: client.organization(installationId, home.id),
    warehouseCredit: issueCredit(sandbox, home.id, { place: 'warehouse', amount: 100.5 }),
    inventoryCredit: issueCredit(sandbox, home.id, { place: 'inventory', amount: 50 }),
  };
}

const retirementData = { reason: 'Voluntary purposes', beneficiaryName: 'Ása Jónsdóttir', comment: 'thanks' };

test('the client uses POST /app/accessTokens, GET /projects, /projects/find and /projects/:id', async () => {
  const { client, warehouseCredit } = await createScene();
  const [page] = await collect(client.token.listProjects().pages());
  expect(page).toMatchObject({ total: 2, cursor: null });
  const found = await client.token.findProject({ creditId: warehouseCredit });
  expect(page?.items.map(({ id }) => id)).toContain(found.id);
  await expect(client.token.readProject(found.id)).resolves.toEqual(found);
  expect(found.fullName).toMatch(/^project /);
});

test('the client uses GET /projects/find by serialization', async () => {
  const { client, installationId, organizationId } = await createScene();
  const [credit] = await collect(client.organization(installationId, organizationId).listWarehouse());
  const found = await client.token.findProject({ serialization: credit?.serialization ?? '' });
  expect(found.id).toBe(credit?.project?.id);
});

test('the client uses GET /app/installations, of all, of one and of an organization', async () => {
  const { client, installationId, organizationId } = await createScene();
  const installations = await collect(client.app.listInstallations());
  const installation = await client.app.readInstallation(installationId);
  expect(installation).toMatchObject({
    id: installationId,
    organizationId,
    permissions: { organization_info: 'VIEW' },
  });
  expect(installations).toEqual([installation]);
  await expect(client.app.readInstallationOf(organizationId)).resolves.toEqual(installation);
});

test('the client uses POST /app/create/user/organization', async () => {
  const { client } = await createScene();
  const created = await client.app.createUserAndOrganization({
    user: { email: 'new@people.example', fullName: 'New Person', profilePicture: '' },
    organization: { fullName: 'New Organization', type: 'other', countryCode: 'IS' },
  });
  expect(created).toMatchObject({
    user: { email: 'new@people.example' },
    organization: { fullName: 'New Organization' },
  });
  const { id, organizationId } = created.installation;
  const organization = client.organization(id, organizationId ?? '');
  await expect(organization.readOrganization()).resolves.toMatchObject({ id: organizationId });
});

test('the client uses POST /app/installations/:id/accessTokens, and DELETE /app/installations/token to revoke the token', async () => {
  const { client, installationId, organizationId, sandbox } = await createScene();
  const minted = await client.app.createInstallationToken(installationId);
  expect(minted).toMatchObject({ installationId, organizationId });
  expect(Date.parse(minted.expiresAt) - sandbox.registry.store.clock.now()).toBeGreaterThan(7_000_000);
  const { token } = await client.tokens.installation(installationId).get();
  await client.installation(installationId).revokeToken();
  const again = await client.tokens.installation(installationId).get();
  expect(again.token).not.toBe(token);
  expect(await collect(client.installation(installationId).listProjects())).toHaveLength(2);
});

test('the client uses GET /organizations/:id, its addresses and its members', async () => {
  const { organizationId, organization } = await createScene();
  await expect(organization.readOrganization()).resolves.toMatchObject({
    id: organizationId,
    type: 'marketParticipant',
    countryCode: 'IS',
  });
  const [address] = await collect(organization.listAddresses());
  expect(address).toMatchObject({ address: expect.stringMatching(/^0x[0-9a-f]{40}$/i), isDefault: true });
  const [person] = await collect(organization.listMembers());
  expect(person).toMatchObject({ fullName: 'Ada Admin', email: expect.stringContaining('@') });
});

test('the client uses GET warehouse/inventory and inventory, and keeps every digit', async () => {
  const { warehouseCredit, inventoryCredit, organization } = await createScene();
  const warehouse = await collect(organization.listWarehouse());
  expect(warehouse).toMatchObject([
    { creditId: warehouseCredit, amount: { exact: '100.5', micro: 100_500_000n, fault: null } },
  ]);
  const inventory = await collect(organization.listInventory());
  expect(inventory).toMatchObject([{ creditId: inventoryCredit, amount: { exact: '50' } }]);
  expect(JSON.parse(warehouse[0]?.document ?? '')).toMatchObject({ id: warehouseCredit });
});

test('the client uses POST, GET and DELETE reservations', async () => {
  const { warehouseCredit, organization } = await createScene();
  const reservation = await organization.reserve({ creditId: warehouseCredit, amount: '10.25' });
  expect(reservation).toMatchObject({ creditId: warehouseCredit, state: 'outstanding', isComplete: false });
  expect(reservation.amount.exact).toBe('10.25');
  await expect(organization.readReservation(reservation.id)).resolves.toEqual(reservation);
  expect(await collect(organization.listReservations())).toEqual([reservation]);
  await expect(organization.cancelReservation(reservation.id)).resolves.toMatchObject({ state: 'cancelled' });
  await expect(organization.cancelReservation(reservation.id)).rejects.toMatchObject({
    code: /conflict|invalid/,
  });
});

test('the client uses POST reservations/:id/:action, GET retirements, one of them, and their certificate on both paths', async () => {
  const { client, organizationId, warehouseCredit, organization } = await createScene();
  const reservation = await organization.reserve({ creditId: warehouseCredit, amount: 3 });
  const finished = await organization.finishReservation(reservation.id, 'retire', { retirementData });
  expect(finished).toMatchObject({ id: reservation.id, isComplete: true, state: 'finished' });

  const [retirement] = await collect(organization.listRetirements());
  expect(retirement).toMatchObject({ beneficiary: 'Ása Jónsdóttir', amount: { exact: '3' }, organizationId });
  const id = retirement?.id ?? '';
  await expect(organization.readRetirement(id)).resolves.toEqual(retirement);
  await expect(client.token.readRetirement(id)).resolves.toMatchObject({ id, amount: { exact: '3' } });

  const own = await organization.downloadCertificate(id);
  const open = await client.token.downloadCertificate(id);
  const [first, second] = await Promise.all([collectBytes(own.body), collectBytes(open.body)]);
  expect(first.subarray(0, 5).toString()).toBe('%PDF-');
  expect(own.contentLength === null || own.contentLength === first.length).toBe(true);
  expect(first.equals(second)).toBe(true);
});

test('findRetirement finds the retirement of a finished reservation', async () => {
  const { warehouseCredit, organization } = await createScene();
  const retire = async (data: RetirementData) => {
    const reservation = await organization.reserve({ creditId: warehouseCredit, amount: '2.50' });
    await organization.finishReservation(reservation.id, 'retire', { retirementData: data });
    return reservation;
  };
  const first = await retire(retirementData);
  const found = await organization.findRetirement({ reservation: first, retirementData });
  expect(found).toMatchObject({ serialization: first.serialization, comment: 'thanks' });

  const data = { ...retirementData, comment: 'order 2' };
  const second = await retire(data);
  const other = await organization.findRetirement({ reservation: second, retirementData: data });
  expect(other).toMatchObject({ comment: 'order 2', amount: { exact: '2.5' } });
  const { comment: _, ...withoutComment } = data;
  await expect(
    organization.findRetirement({ reservation: first, retirementData: withoutComment }),
  ).rejects.toMatchObject({ code: 'outcome_unknown', candidates: [{ id: other.id }, { id: found.id }] });
});

test('findRetirement waits for a queued retirement, and says if it does not appear', async () => {
  let waits = 0;
  let onWait = (): unknown => undefined;
  const { sandbox, warehouseCredit, organization } = await createScene(async () => {
    waits += 1;
    onWait();
  });
  sandbox.registry.faults.add({ kind: 'transactionQueues', count: 1 });
  const reservation = await organization.reserve({ creditId: warehouseCredit, amount: 1 });
  await organization.finishReservation(reservation.id, 'retire', { retirementData });
  const [queued] = sandbox.registry.store.tables.transactions.list();
  onWait = () => waits === 2 && sandbox.registry.transactions.complete(queued?.id ?? '', 'processed');
  const found = await organization.findRetirement({ reservation });
  expect([found.comment, waits]).toEqual(['thanks', 2]);
  await expect(
    organization.findRetirement({ retirementData: { comment: 'never sent' } }),
  ).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('not show the retirement yet'),
  });
});

test('the client uses POST and GET inventory/requests', async () => {
  const { inventoryCredit, organization } = await createScene();
  const request = await organization.requestInventoryAction('retire', {
    creditId: inventoryCredit,
    amount: '1.5',
    retirementData,
  });
  expect(request).toMatchObject({
    action: 'retire',
    creditId: inventoryCredit,
    beneficiary: 'Ása Jónsdóttir',
  });
  await expect(organization.readInventoryRequest(request.id)).resolves.toEqual(request);
  expect(await collect(organization.listInventoryRequests())).toEqual([request]);
});

test('endpoints without a method can be requested by their path', async () => {
  const { client, warehouseCredit } = await createScene();
  const ask = async (route: string, query = {}) => {
    const { body } = await client.http.send({ method: 'GET', route, query, token: client.tokens.app() });
    return JSON.parse(body.toString());
  };
  expect(await ask('/retirements/list', { skip: '0', first: '5' })).toEqual({ retirements: [] });
  const { id } = await client.token.findProject({ creditId: warehouseCredit });
  expect(await ask(`/carbonCredits/projects/${id}`)).toMatchObject({
    summary: { exPost: 100.5 },
    project: { id },
  });
});

test('the client uses GET friendbot', async () => {
  const { client, installationId, organizationId } = await createScene();
  const before = await sumTonnes(client, installationId, organizationId);
  await client.token.friendbot(organizationId);
  await client.installation(installationId).friendbot(organizationId);
  expect((await sumTonnes(client, installationId, organizationId)) - before).toBe(200);
});

async function sumTonnes(client: Client, installationId: string, organizationId: string): Promise<number> {
  const organization = client.organization(installationId, organizationId);
  const credits = [
    ...(await collect(organization.listWarehouse())),
    ...(await collect(organization.listInventory())),
  ];
  return credits.reduce((sum, { amount }) => sum + (amount.value ?? Number.NaN), 0);
}

/** Makes the sandbox carry out the calls of a path and cut their answers. */
function loseAnswers(sandbox: Sandbox, method: string, path: string): void {
  sandbox.registry.faults.add({ kind: 'cut', method, path, options: { bytes: 1 }, count: 1 });
}

test('T45 every write whose answer is lost is carried out once and found by a look-up', async () => {
  const { client, sandbox, installationId, organizationId, warehouseCredit, inventoryCredit, organization } =
    await createScene();
  const base = `/organizations/${organizationId}`;

  loseAnswers(sandbox, 'POST', `${base}/warehouse/inventory/reservations`);
  const reservation = await organization.reserve({ creditId: warehouseCredit, amount: 2 });
  loseAnswers(sandbox, 'POST', `${base}/warehouse/inventory/reservations/${reservation.id}/retire`);
  const finished = await organization.finishReservation(reservation.id, 'retire', { retirementData });
  expect(finished).toMatchObject({ id: reservation.id, state: 'finished' });

  const other = await organization.reserve({ creditId: warehouseCredit, amount: 3 });
  loseAnswers(sandbox, 'DELETE', `${base}/warehouse/inventory/reservations/${other.id}`);
  await expect(organization.cancelReservation(other.id)).resolves.toMatchObject({ state: 'cancelled' });

  loseAnswers(sandbox, 'POST', `${base}/inventory/requests/retire`);
  const action = { creditId: inventoryCredit, amount: 1, retirementData };
  await expect(organization.requestInventoryAction('retire', action)).resolves.toMatchObject({
    action: 'retire',
  });

  loseAnswers(sandbox, 'POST', '/app/create/user/organization');
  const created = await client.app.createUserAndOrganization({
    user: { email: 'lost@people.example' },
    organization: { fullName: 'Lost and Found', type: 'other' },
  });
  expect(created).toMatchObject({ user: null, organization: { fullName: 'Lost and Found' } });

  loseAnswers(sandbox, 'GET', `${base}/friendbot`);
  const before = await sumTonnes(client, installationId, organizationId);
  await expect(client.token.friendbot(organizationId)).rejects.toMatchObject({ code: 'outcome_unknown' });
  expect((await sumTonnes(client, installationId, organizationId)) - before).toBe(100);

  const lists = [
    organization.listReservations(),
    organization.listInventoryRequests(),
    organization.listRetirements(),
    client.app.listInstallations(),
  ];
  const lengths = await Promise.all(lists.map(async list => (await collect<unknown>(list)).length));
  expect(lengths).toEqual([2, 1, 1, 2]);
  expect(sandbox.registry.faults.list().map(({ hits }) => hits)).toEqual([1, 1, 1, 1, 1, 1]);
});
