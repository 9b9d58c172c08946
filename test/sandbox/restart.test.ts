import { createHash, createPublicKey, sign, verify } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/start.js';
import { createSandboxRegistry } from '../../src/sandbox/registry/registry.js';
import { openSandboxStore } from '../../src/sandbox/store/store.js';
import {
  copyJournalAsKilled,
  callSandbox,
  createCaller,
  createOrganization,
  installApp,
  issueCredit,
  listAllRows,
  createTemporarySandboxFolder,
  registerApp,
  signAppJwt,
  startTestSandbox,
  startTemporarySandbox,
} from '../support/sandbox.js';

test('without a folder the sandbox uses a temporary one, which close removes', async () => {
  const { sandbox, stop } = await startTestSandbox();
  expect(existsSync(sandbox.folder)).toBe(true);
  await stop();
  expect(existsSync(sandbox.folder)).toBe(false);
  expect(sandbox.registry.store.isOpen()).toBe(false);
});

/** Installs an app on an organization with a warehouse credit. */
function openWarehouse(sandbox: Sandbox) {
  const installed = installApp(sandbox);
  const creditId = issueCredit(sandbox, installed.organization.id);
  const root = `/organizations/${installed.organization.id}`;
  const queue = `${root}/warehouse/inventory/reservations`;
  const reserve = async () =>
    (await createCaller(sandbox, installed.token)(`POST ${queue}`, { creditId, amount: 1 })).body;
  return { ...installed, root, queue, reserve };
}

test('a restart loses nothing', async () => {
  const folder = createTemporarySandboxFolder();
  const first = await startTestSandbox({ folder, seed: 1 });
  const { app, token, queue, reserve } = openWarehouse(first.sandbox);
  const reservation = await reserve();
  first.sandbox.registry.store.clock.shiftTime(400_000);
  first.sandbox.registry.faults.add({ path: '/projects', kind: 'html' });
  await first.stop();

  const second = await startTemporarySandbox({ folder, seed: 1 });
  const call = createCaller(second, token);
  expect(second.registry.store.clock.getState().offsetMs).toBeGreaterThan(399_000);
  expect((await call(`GET ${queue}/${reservation.id}`)).body).toEqual(reservation);
  const callAsApp = createCaller(second, signAppJwt(second, app));
  expect((await callAsApp('GET /app/installations')).status).toBe(200);
  expect((await call('GET /projects')).body).toMatch(/^<!doctype html>/);
  const { calls } = (await callSandbox(second, `GET /_sandbox/calls?appId=${app.id}`)).body;
  expect(calls.map(({ method }: { method: string }) => method)).toContain('POST');
});

test('a reservation whose time ended while the sandbox was stopped is expired after a restart', async () => {
  const folder = createTemporarySandboxFolder();
  const first = await startTestSandbox({ folder });
  const { token, queue, reserve } = openWarehouse(first.sandbox);
  const { id, reservedToDate } = await reserve();
  await first.stop();
  const second = await startTemporarySandbox({ folder, wallClock: () => Date.now() + 600_000 });
  const { body } = await createCaller(second, token)(`GET ${queue}/${id}`);
  expect(body).toMatchObject({ state: 'expired', updatedAt: reservedToDate });
});

test('a folder refuses another seed than its world’s, and a seed for a registry that began without one', async () => {
  const folder = createTemporarySandboxFolder();
  await (await startTestSandbox({ folder, seed: 1 })).stop();
  await expect(startSandbox({ port: 0, folder, seed: 2 })).rejects.toThrow(/holds the world/);
  const same = await startTemporarySandbox({ folder });
  expect(same.registry.projects.listAll().length).toBeGreaterThan(7);

  const plain = createTemporarySandboxFolder();
  const first = await startTestSandbox({ folder: plain });
  registerApp(first.sandbox);
  await first.stop();
  await expect(startSandbox({ port: 0, folder: plain, seed: 1 })).rejects.toThrow(/created without a seed/);
  const again = await startTemporarySandbox({ folder: plain });
  expect(again.registry.apps.list()).toHaveLength(1);
});

test('every row that was answered survives a kill -9', async () => {
  const first = await startTemporarySandbox({ seed: 1 });
  const { token, root, queue, reserve } = openWarehouse(first);
  const call = createCaller(first, token);
  await callSandbox(first, 'PATCH /_sandbox/webhooks', { body: { hold: true } });
  const retirementData = { reason: 'Other', beneficiaryName: 'Ada' };
  await call(`POST ${queue}/${(await reserve()).id}/retire`, { retirementData });
  await call(`GET ${root}/friendbot`);
  const again = await startTemporarySandbox({ folder: copyJournalAsKilled(first), seed: 1 });
  expect(listAllRows(again)).toEqual(listAllRows(first));
  expect(again.registry.calls.list(WHOLE)).toEqual(first.registry.calls.list(WHOLE));
});

test('an incomplete last line of the journal is dropped, because its operation was never answered', async () => {
  const first = await startTemporarySandbox();
  createOrganization(first, 'Answered');
  const folder = copyJournalAsKilled(first);
  appendFileSync(join(folder, 'sandbox.journal'), '["create organization",[{"fullName":"Half');
  const second = await startTestSandbox({ folder });
  createOrganization(second.sandbox, 'Later');
  await second.stop();
  const third = await startTemporarySandbox({ folder });
  const names = third.registry.organizations.listAll().map(({ fullName }) => fullName);
  expect(names.toSorted()).toEqual(['Answered', 'Later']);
});

test('a refused operation writes no line to the journal and changes no row', async () => {
  const sandbox = await startTemporarySandbox();
  const { organization } = installApp(sandbox);
  const creditId = issueCredit(sandbox, organization.id);
  const journal = () => readFileSync(join(sandbox.folder, 'sandbox.journal'), 'utf8');
  const before = { journal: journal(), rows: listAllRows(sandbox) };
  const refused = sandbox.registry.store.defineOperation('refused', () => {
    sandbox.registry.credits.withdraw(organization.id, { creditId, amount: 7 });
    sandbox.registry.organizations.claim(organization.id);
  });
  expect(refused).toThrow('already claimed');
  expect({ journal: journal(), rows: listAllRows(sandbox) }).toEqual(before);
});

test('the journal keeps only the last lines of an operation that has a maximum of lines', async () => {
  const folder = createTemporarySandboxFolder();
  const open = () => {
    const store = openSandboxStore({ folder, wallClock: Date.now });
    const seen: string[] = [];
    const note = store.defineOperation('note', (what: string) => void seen.push(what));
    const mark = store.defineOperation('mark', () => void seen.push(store.newId()));
    store.replayJournal({ note: 2 });
    return { store, seen, note, mark };
  };
  const first = open();
  for (const what of ['a', 'b', 'c']) first.note(what);
  first.mark();
  first.note('d');
  const [, , , id = ''] = first.seen;
  first.store.close();
  for (let start = 0; start < 2; start += 1) {
    const { store, seen } = open();
    expect(seen).toEqual(['c', id, 'd']);
    store.close();
  }
  expect(readFileSync(join(folder, 'sandbox.journal'), 'utf8')).not.toContain('"a"');
});

test('operations have the same names in the journals of all versions of the sandbox', async () => {
  const { registry } = await startTemporarySandbox();
  const names: string[] = [];
  const defineOperation: typeof registry.store.defineOperation = (name, action) => {
    names.push(name);
    return action;
  };
  createSandboxRegistry({
    ...registry,
    store: { ...registry.store, defineOperation },
    strict: false,
    asDocumented: false,
  });
  expect(names.toSorted()).toEqual(OPERATIONS);
});

test.each([
  [
    'of an unknown version',
    'sandbox.journal',
    '["carbon sandbox",99]\n',
    /is not a journal of this version of the sandbox: move/,
  ],
  [
    'that is another file',
    'sandbox.journal',
    'hello, only a text',
    /is not a journal of this version of the sandbox: move it away/,
  ],
  [
    'with an unknown operation',
    'sandbox.journal',
    '["carbon sandbox",2]\n["fly",[],0,[]]\n',
    /cannot be replayed from line 2 on \(unknown operation "fly"\): move it away/,
  ],
  [
    'of the earlier SQLite version',
    'sandbox.db',
    'SQLite format 3',
    /the sandbox of an earlier version: move it away/,
  ],
])('a journal %s is refused and left unchanged', async (_, name, content, why) => {
  const folder = createTemporarySandboxFolder();
  writeFileSync(join(folder, name), content);
  await expect(startSandbox({ port: 0, folder })).rejects.toThrow(why);
  expect(readFileSync(join(folder, name), 'utf8')).toBe(content);
});

test('of two sandboxes in one folder the second writer fails, and the journal stays intact', async () => {
  const folder = createTemporarySandboxFolder();
  const one = await startTemporarySandbox({ folder });
  const other = await startTemporarySandbox({ folder });
  createOrganization(one, 'First');
  expect(() => createOrganization(other, 'Second')).toThrow(/Another sandbox writes .*: stop one of the two/);
  expect(other.registry.organizations.listAll()).toEqual([]);
  const third = await startTemporarySandbox({ folder: copyJournalAsKilled(one) });
  expect(third.registry.organizations.listAll()).toMatchObject([{ fullName: 'First' }]);
});

test('T70 the journal and a generated private key are readable by their owner only', async () => {
  const sandbox = await startTemporarySandbox();
  const body = { name: 'My Marketplace!', permissions: {}, generateKey: true };
  const { body: app } = await callSandbox(sandbox, 'POST /_sandbox/apps', { body });
  expect(app.privateKeyFile).toBe(join(sandbox.folder, 'my-marketplace.private-key.pem'));
  for (const file of [app.privateKeyFile, join(sandbox.folder, 'sandbox.journal')]) {
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
  const privateKey = readFileSync(app.privateKeyFile, 'utf8');
  const signature = sign('RSA-SHA256', Buffer.from('x'), privateKey);
  expect(verify('RSA-SHA256', Buffer.from('x'), createPublicKey(privateKey), signature)).toBe(true);
  const token = signAppJwt(sandbox, { id: app.id, name: app.name, privateKey });
  expect((await callSandbox(sandbox, 'POST /app/accessTokens', { token })).status).toBe(200);
});

test('tokens are stored as digests only', async () => {
  const sandbox = await startTemporarySandbox();
  const { token } = installApp(sandbox);
  const text = readFileSync(join(sandbox.folder, 'sandbox.journal'), 'utf8');
  expect(text).not.toContain(token.slice(4));
  expect(text).toContain(createHash('sha256').update(token).digest('hex'));
});

const WHOLE = { appId: null, installationId: null, limit: 100 };

/** Journals name these operations. To rename one, give the journal another version. */
const OPERATIONS = [
  'accept permissions',
  'accept request',
  'add fault',
  'begin attempt',
  'behave',
  'call',
  'cancel',
  'change installation',
  'change project',
  'claim organization',
  'clear faults',
  'complete transaction',
  'create organization',
  'create organization for app',
  'create project',
  'decline request',
  'describe retirement',
  'drop',
  'end attempt',
  'expire reservation',
  'expire token',
  'finish',
  'friendbot',
  'give up',
  'hit',
  'install',
  'issue',
  'mint',
  'move',
  'register app',
  'release',
  'remove fault',
  'request',
  'resend',
  'reserve',
  'retire off platform',
  'revoke',
  'save app',
];
