import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import type { Sandbox } from '../../src/sandbox/start.js';
import { runCommand } from '../support/command.js';
import { startWorkProcess } from '../support/work-process.js';
import { findFreePort } from '../support/processes.js';
import { APP_ID, payloadOf, SECRET, signedPost } from '../support/receiver.js';
import { until } from '../support/wait.js';
import { installApp, issueCredit, type TestApp, startTemporarySandbox } from '../support/sandbox.js';

const run = promisify(execFile);
const EXAMPLES = join(import.meta.dirname, '../../docs/examples');

/** A registry that accepts only its own version header. */
const OTHER_WORDS = { headerPrefix: 'icr', strict: true };

async function createTemporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'carbon-example-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs an example as its first lines describe, with the app's key in a file. */
async function runExample(name: string, sandbox: Sandbox, app: TestApp, args: readonly string[]) {
  const keyFile = join(await createTemporaryFolder(), 'key.pem');
  await writeFile(keyFile, app.privateKey, { mode: 0o600 });
  const { stdout } = await run(process.execPath, [join(EXAMPLES, name), ...args], {
    env: {
      PATH: process.env['PATH'],
      REGISTRY_BASE_URL: sandbox.url,
      REGISTRY_HEADER_PREFIX: 'icr',
      REGISTRY_APP_ID: app.id,
      REGISTRY_PRIVATE_KEY_FILE: keyFile,
    },
  });
  return stdout;
}

/** Lists the owners and amounts of all credits in the sandbox. */
function listCreditOwners(sandbox: Sandbox): readonly unknown[] {
  const { holdings, organizations } = sandbox.registry.store.tables;
  const holdingsWithCredits = holdings.list().filter(({ amountMicro }) => amountMicro > 0);
  return holdingsWithCredits.map(({ organizationId, amountMicro }) => ({
    fullName: organizations.get(organizationId)?.fullName,
    amountMicro,
  }));
}

test('docs/examples/retire.js retires a tonne and saves its certificate', async () => {
  const sandbox = await startTemporarySandbox(OTHER_WORDS);
  const { app, organization } = installApp(sandbox);
  issueCredit(sandbox, organization.id, { amount: 2.5 });
  issueCredit(sandbox, organization.id, { amount: 9, type: 'exAnte' });
  const file = join(await createTemporaryFolder(), 'certificate.pdf');

  const output = await runExample('retire.js', sandbox, app, [file]);

  expect(output).toContain('retired 1 t for Harbour Bakery ehf.');
  expect(listCreditOwners(sandbox)).toContainEqual({
    fullName: organization.fullName,
    amountMicro: 9_000_000,
  });
  const certificate = await readFile(file);
  expect(certificate.subarray(0, 5).toString()).toBe('%PDF-');
  expect(certificate.toString('latin1').trimEnd()).toMatch(/%%EOF$/);
});

test('docs/examples/sell.js sells a tonne to an organization that it creates', async () => {
  const sandbox = await startTemporarySandbox(OTHER_WORDS);
  const { app, organization } = installApp(sandbox);
  const creditId = issueCredit(sandbox, organization.id, { amount: 1 });

  const output = await runExample('sell.js', sandbox, app, [
    organization.id,
    creditId,
    'customer@people.example',
    'Customer and Daughters',
  ]);

  expect(output).toBe(`1 t of ${creditId} now belongs to Customer and Daughters\n`);
  expect(listCreditOwners(sandbox)).toEqual([{ fullName: 'Customer and Daughters', amountMicro: 1_000_000 }]);
});

test('docs/examples/shop.js offers a credit only while enough of it is available, and mails the certificate of a retirement', async () => {
  const sandbox = await startTemporarySandbox(OTHER_WORDS);
  const { app, organization } = installApp(sandbox);
  const creditId = issueCredit(sandbox, organization.id, { amount: 2.5 });
  const folder = await createTemporaryFolder();
  const [dataDir, shopFile] = [join(folder, 'data'), join(folder, 'shop.json')];
  const customers = { 'Harbour Bakery ehf.': 'ada@bakery.example' };
  await writeFile(shopFile, JSON.stringify({ offers: { [creditId]: 2 }, customers }));
  const port = String(await findFreePort());
  const env = {
    DATA_DIR: dataDir,
    EVENTS_KEY_FILE: join(folder, 'events.key'),
    OUTBOUND_ALLOW: 'loopback',
    REGISTRY_HEADER_PREFIX: 'icr',
    // Rows are fresh for two intervals.
    SYNC_SCHEDULE: '*/5 * * * * *',
  };
  await runCommand(['migrate'], { env });
  const url = `http://127.0.0.1:${port}/hooks`;
  const guide = await readFile(join(EXAMPLES, '../integrate.md'), 'utf8');
  const [, types = ''] = /subscriptions add \S+ --events "(.+)"$/m.exec(guide) ?? [];
  const events = ['--events', types];
  const { stdout: secret } = await runCommand(['subscriptions', 'add', url, ...events], { env });
  const shop = spawn(process.execPath, [join(EXAMPLES, 'shop.js')], {
    env: {
      SHOP_FILE: shopFile,
      EVENTS_SECRET: secret.trim(),
      DATA_DIR: dataDir,
      MAIL_DIR: folder,
      PORT: port,
    },
  });
  onTestFinished(() => void shop.kill('SIGKILL'));
  let output = '';
  shop.stdout.on('data', part => (output += String(part)));
  shop.stderr.on('data', part => (output += String(part)));
  await until(() => output.includes('listens'), 'the shop');
  startWorkProcess({ url: sandbox.url, app, dataDir, env });
  await expect.poll(() => output).toContain(`offered: ${creditId}`);

  await runExample('retire.js', sandbox, app, [join(folder, 'certificate.pdf')]);
  await expect.poll(() => output).toContain(`no longer offered: ${creditId}`);
  await expect.poll(() => output).toMatch(/mailed the certificate of \S+ to ada@bakery\.example/);
  const [, retirementId = ''] = /certificate of (\S+) to/.exec(output) ?? [];
  const mail = await readFile(join(folder, `${retirementId}.eml`), 'utf8');
  expect(mail).toContain('To: ada@bakery.example');
  expect(Buffer.from(mail.split('\n\n')[1] ?? '', 'base64').toString('latin1')).toMatch(/^%PDF/);

  const forged = await fetch(url, { method: 'POST', body: '{"type":"credit.changed","data":{}}' });
  expect(forged.status).toBe(400);
});

test('docs/examples/own-test.js passes', async () => {
  const { stdout } = await run(process.execPath, ['--test', join(EXAMPLES, 'own-test.js')]);
  expect(stdout).toMatch(/pass 1\n/);
});

test('docs/examples/express.js acts on a signed post, and refuses one without a body and one without a signature', async () => {
  const port = await findFreePort();
  const env = { PORT: String(port), WEBHOOK_SECRETS: SECRET, REGISTRY_APP_ID: APP_ID };
  const child = spawn(process.execPath, [join(EXAMPLES, 'express.js')], { env });
  onTestFinished(() => void child.kill());
  const post = async (init: object) =>
    (await fetch(`http://127.0.0.1:${port}/webhooks`, { method: 'POST', ...init })).status;
  await until(async () => await post({}).then(Boolean, () => false), 'the program');
  const { body, headers } = signedPost(payloadOf());
  const printed = once(child.stdout, 'data');
  const statuses = [await post({}), await post({ body }), await post({ body, headers })];
  expect(statuses).toEqual([400, 401, 202]);
  expect(String((await printed)[0])).toMatch(/^warehouseTransaction .* must be read again\n$/);
});

test('docs/examples/sell.js cancels the reservation if the customer cannot be created', async () => {
  const sandbox = await startTemporarySandbox(OTHER_WORDS);
  const { app, organization } = installApp(sandbox);
  const creditId = issueCredit(sandbox, organization.id, { amount: 1 });
  const args = [organization.id, creditId, 'no e-mail', 'Customer and Daughters'];
  await expect(runExample('sell.js', sandbox, app, args)).rejects.toThrow(/invalid/);
  expect(listCreditOwners(sandbox)).toEqual([{ fullName: organization.fullName, amountMicro: 1_000_000 }]);
});
