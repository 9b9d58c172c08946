import { createPublicKey, sign, verify } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Sqlite } from '../../src/sandbox/store/driver.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/start.js';
import {
  ask,
  installApp,
  issueCredit,
  sandboxFolder,
  signAppJwt,
  startTestSandbox,
  temporarySandbox,
} from '../support/sandbox.js';

test('without a folder it has one of its own, which goes with it', async () => {
  const { sandbox, stop } = await startTestSandbox();
  expect(existsSync(sandbox.folder)).toBe(true);
  await stop();
  expect(existsSync(sandbox.folder)).toBe(false);
});

test('a restart loses nothing', async () => {
  const folder = sandboxFolder();
  const first = await startTestSandbox({ folder, seed: 1 });
  const { app, organization, token } = installApp(first.sandbox);
  const creditId = issueCredit(first.sandbox, organization.id);
  const queue = `/organizations/${organization.id}/warehouse/inventory/reservations`;
  const held = await ask(first.sandbox, `POST ${queue}`, { token, body: { creditId, amount: 1 } });
  first.sandbox.registry.store.clock.move(400_000);
  first.sandbox.registry.faults.add({ path: '/projects', kind: 'html' });
  await first.stop();

  const second = await temporarySandbox({ folder, seed: 1 });
  expect(second.registry.store.clock.state().offsetMs).toBeGreaterThan(399_000);
  expect((await ask(second, `GET ${queue}/${held.body.id}`, { token })).body).toEqual(held.body);
  expect((await ask(second, 'GET /app/installations', { token: signAppJwt(second, app) })).status).toBe(200);
  expect((await ask(second, 'GET /projects', { token })).body).toMatch(/^<!doctype html>/);
  const calls = await ask(second, `GET /_sandbox/calls?appId=${app.id}`);
  expect(calls.body.calls.map(({ method }: { method: string }) => method)).toContain('POST');
});

test('a hold that ended while the sandbox was down has ended when it is back', async () => {
  const folder = sandboxFolder();
  const first = await startTestSandbox({ folder });
  const { organization, token } = installApp(first.sandbox);
  const creditId = issueCredit(first.sandbox, organization.id);
  const queue = `/organizations/${organization.id}/warehouse/inventory/reservations`;
  const held = await ask(first.sandbox, `POST ${queue}`, { token, body: { creditId, amount: 1 } });
  await first.stop();
  const second = await temporarySandbox({ folder, wall: () => Date.now() + 600_000 });
  const { body } = await ask(second, `GET ${queue}/${held.body.id}`, { token });
  expect(body).toMatchObject({ state: 'expired', updatedAt: held.body.reservedToDate });
});

test('a folder that holds one world refuses to be started as another', async () => {
  const folder = sandboxFolder();
  const first = await startTestSandbox({ folder, seed: 1 });
  await first.stop();
  await expect(startSandbox({ port: 0, folder, seed: 2 })).rejects.toThrow(/holds the world/);
  const plain = await startTestSandbox({ folder });
  expect(plain.sandbox.registry.projects.all().length).toBeGreaterThan(7);
  await plain.stop();
});

test('the same seed gives the same world, another seed another', async () => {
  const names = async (seed: number) => {
    const sandbox = await temporarySandbox({ seed });
    return sandbox.registry.organizations.all();
  };
  const [one, same, other] = [await names(1), await names(1), await names(2)];
  expect(one).toEqual(same);
  expect(one).not.toEqual(other);
});

test('a file with a schema of another version is left alone', async () => {
  const folder = sandboxFolder();
  const first = await startTestSandbox({ folder });
  await first.stop();
  const db = new Sqlite(join(folder, 'sandbox.db'));
  db.pragma('user_version = 99');
  db.close();
  await expect(startSandbox({ port: 0, folder })).rejects.toThrow(/schema version 99/);
});

test('a file that is no database is an error of startSandbox', async () => {
  const folder = sandboxFolder();
  writeFileSync(
    join(folder, 'sandbox.db'),
    'hello, this is no database, only a text of some length'.repeat(50),
  );
  await expect(startSandbox({ port: 0, folder })).rejects.toThrow(/not a database/);
});

test('another process can read the tables while the sandbox runs', async () => {
  const sandbox = await temporarySandbox({ seed: 3 });
  const reader = new Sqlite(join(sandbox.folder, 'sandbox.db'), { readonly: true });
  const count = reader.prepare('select count(*) from organizations').pluck();
  const before = Number(count.get());
  installApp(sandbox);
  expect(count.get()).toBe(before + 1);
  reader.close();
});

test('T70 the database and a private key that was made are readable by their owner only', async () => {
  const sandbox = await temporarySandbox();
  const body = { name: 'My Marketplace!', permissions: {}, generateKey: true };
  const { body: app } = await ask(sandbox, 'POST /_sandbox/apps', { body });
  expect(app.privateKeyFile).toBe(join(sandbox.folder, 'my-marketplace.private-key.pem'));
  for (const file of [app.privateKeyFile, join(sandbox.folder, 'sandbox.db')]) {
    expect(statSync(file).mode & 0o777).toBe(0o600);
  }
  const privateKey = readFileSync(app.privateKeyFile, 'utf8');
  const signature = sign('RSA-SHA256', Buffer.from('x'), privateKey);
  expect(verify('RSA-SHA256', Buffer.from('x'), createPublicKey(privateKey), signature)).toBe(true);
  const token = signAppJwt(sandbox, { id: app.id, name: app.name, privateKey });
  expect((await ask(sandbox, 'POST /app/accessTokens', { token })).status).toBe(200);
});

test('tokens are kept as digests only', async () => {
  const sandbox = await temporarySandbox();
  const { token } = installApp(sandbox);
  sandbox.registry.store.db.pragma('wal_checkpoint(TRUNCATE)');
  const bytes = readFileSync(join(sandbox.folder, 'sandbox.db'));
  expect(bytes.includes(token)).toBe(false);
  expect(bytes.includes(token.slice(4))).toBe(false);
});

test('a file of an earlier sandbox is given the tables that came later', async () => {
  const folder = sandboxFolder();
  const tables = ({ sandbox }: { sandbox: Sandbox }) =>
    sandbox.registry.store.db
      .prepare("select name from sqlite_schema where type = 'table' order by name")
      .all();
  const first = await startTestSandbox({ folder });
  const before = tables(first);
  first.sandbox.registry.store.db.exec('drop table queued_moves');
  await first.stop();
  expect(tables({ sandbox: await temporarySandbox({ folder }) })).toEqual(before);
});
